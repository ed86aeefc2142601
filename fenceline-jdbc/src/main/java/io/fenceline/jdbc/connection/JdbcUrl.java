package io.fenceline.jdbc.connection;

import io.fenceline.spi.StoreAddress;
import java.io.PrintWriter;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A JDBC URL, with its secrets kept apart: drivers and pools write the URL to their logs, at some
 * level or other.
 */
public final class JdbcUrl {
  private final String url;
  private final Properties secrets;
  private final List<String> hidden = new ArrayList<>();

  private JdbcUrl(String url, Properties secrets) {
    this.url = url;
    this.secrets = secrets;
  }

  /**
   * Takes the secrets out of an address.
   *
   * @param decodes whether the driver decodes the parameters of a URL, which it never does to
   *     properties
   */
  public static JdbcUrl of(StoreAddress address, boolean decodes) {
    String text = address.secretText();
    int query = text.indexOf('?');
    Properties secrets = new Properties();
    List<String> kept = new ArrayList<>();
    List<String> hidden = new ArrayList<>(List.of(text));
    address.password().ifPresent(hidden::add);
    for (String pair : query < 0 ? new String[0] : text.substring(query + 1).split("&", -1)) {
      int equals = pair.indexOf('=');
      String key = equals < 0 ? pair : pair.substring(0, equals);
      String value = equals < 0 ? "" : pair.substring(equals + 1);
      String decoded = decoded(value);
      // A second parameter behind a semicolon, or the rest of a login, may be in any value.
      boolean isSecret =
          StoreAddress.isSecret(key)
              || StoreAddress.isSecret(decoded(key))
              || decoded.matches("(?s).*[;=@].*");
      if (equals >= 0 && isSecret) {
        secrets.setProperty(key, decodes ? decoded : value);
        hidden.addAll(List.of(value, decoded, value.replace("+", " ")));
      } else {
        kept.add(pair);
      }
    }
    String place = query < 0 ? text : text.substring(0, query);
    JdbcUrl found =
        new JdbcUrl(kept.isEmpty() ? place : place + "?" + String.join("&", kept), secrets);
    found.hidden.addAll(hidden);
    return found;
  }

  /** An SQLite file, which has no secrets. */
  public static JdbcUrl of(Path file) {
    return new JdbcUrl("jdbc:sqlite:" + file, new Properties());
  }

  private static String decoded(String text) {
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return text;
    }
  }

  /** The URL without its secrets, as far as they are parameters. */
  public String url() {
    return url;
  }

  /** What must not be shown, in all forms that a driver might. */
  public List<String> hidden() {
    return List.copyOf(hidden);
  }

  /** The secrets and other properties of a connection. */
  public Properties with(Properties others) {
    Properties all = new Properties();
    others.forEach((key, value) -> all.setProperty(key.toString(), value.toString()));
    secrets.forEach((key, value) -> all.setProperty(key.toString(), value.toString()));
    return all;
  }

  /**
   * Makes connections with these properties; does not give the secrets away.
   *
   * @param answerMillis how long an answer may take, for a driver whose property has only seconds;
   *     0 if the properties say it
   */
  public DataSource source(Properties properties, int answerMillis) {
    return new Source(url, with(properties), answerMillis);
  }

  /** Whether the URL itself sets a property. */
  boolean sets(String property) {
    return url.matches("(?s).*[?&]" + property + "=.*");
  }

  private static final class Source implements DataSource {
    private final String url;
    private final Properties properties;
    private final int answerMillis;

    Source(String url, Properties properties, int answerMillis) {
      this.url = url;
      this.properties = properties;
      this.answerMillis = answerMillis;
    }

    @Override
    public Connection getConnection() throws SQLException {
      Connection connection = DriverManager.getConnection(url, properties);
      if (answerMillis > 0) {
        connection.setNetworkTimeout(Runnable::run, answerMillis);
      }
      return connection;
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
      throw new SQLFeatureNotSupportedException("the URL names the user");
    }

    @Override
    public @Nullable PrintWriter getLogWriter() {
      return null;
    }

    @Override
    public void setLogWriter(@Nullable PrintWriter out) {}

    @Override
    public void setLoginTimeout(int seconds) {
      // It is among the properties.
    }

    @Override
    public int getLoginTimeout() {
      return 0;
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
      throw new SQLFeatureNotSupportedException();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
      throw new SQLException("it wraps nothing");
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
      return false;
    }

    @Override
    public String toString() {
      return "connections to a URL";
    }
  }
}
