package io.fenceline.jdbc.waiting;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;
import javax.sql.DataSource;

/** Opens a connection on which an answer may be long in coming. */
@FunctionalInterface
public interface ListenerSource {
  Connection open() throws SQLException;

  /**
   * Connections at a URL.
   *
   * @param answerMillis how long an answer may take; 0 if it is said otherwise
   */
  static ListenerSource at(String url, Properties properties, int answerMillis) {
    Properties patient = new Properties();
    patient.putAll(properties);
    patient.setProperty("socketTimeout", Integer.toString(answerMillis));
    return () -> DriverManager.getConnection(url, patient);
  }

  /** Connections of a data source. */
  static ListenerSource from(DataSource dataSource, int answerMillis) {
    return () -> {
      Connection opened = dataSource.getConnection();
      try {
        opened.setAutoCommit(true);
        opened.setNetworkTimeout(Runnable::run, answerMillis);
        return opened;
      } catch (SQLException e) {
        opened.close();
        throw e;
      }
    };
  }
}
