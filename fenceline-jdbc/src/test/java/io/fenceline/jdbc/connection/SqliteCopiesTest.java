package io.fenceline.jdbc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import io.fenceline.Fenceline;
import io.fenceline.jdbc.JdbcStores;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import org.sqlite.JDBC;

/** Two applications in one process, each with its own copy of Fenceline and of SQLite's driver. */
class SqliteCopiesTest {
  @TempDir Path folder;

  private static URLClassLoader application() {
    URL[] classes =
        Stream.of(
                OtherApplication.class,
                JdbcStores.class,
                Fenceline.class,
                JDBC.class,
                HikariConfig.class,
                LoggerFactory.class)
            .map(type -> type.getProtectionDomain().getCodeSource().getLocation())
            .toArray(URL[]::new);
    return new URLClassLoader(classes, ClassLoader.getPlatformClassLoader());
  }

  /** As a container calls an application: with its class loader. */
  private static Object call(
      ClassLoader application, String method, Class<?>[] types, Object... args) throws Throwable {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(application);
    try {
      return application
          .loadClass(OtherApplication.class.getName())
          .getMethod(method, types)
          .invoke(null, args);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  private static AutoCloseable connect(ClassLoader application, String uri) throws Throwable {
    return (AutoCloseable) call(application, "connect", new Class<?>[] {String.class}, uri);
  }

  private static boolean tryAcquire(ClassLoader application, AutoCloseable client, String name)
      throws Throwable {
    return (boolean)
        call(
            application,
            "tryAcquire",
            new Class<?>[] {AutoCloseable.class, String.class},
            client,
            name);
  }

  @Test
  void secondCopyOfTheDriver_isRefused_sinceItWouldWriteAtTheSameTime() throws Throwable {
    Path file = folder.resolve("locks.db");
    String uri = "sqlite:" + file;
    try (URLClassLoader other = application()) {
      try (Fenceline first = Fenceline.connect(uri);
          Fenceline second = Fenceline.connect(uri); // The same copy: these know of each other.
          Connection writer = DriverManager.getConnection("jdbc:sqlite:" + file);
          Statement statement = writer.createStatement()) {
        assertThat(first.lock("ledger").tryAcquire()).isPresent();
        assertThat(second.lock("ledger").tryAcquire()).isEmpty();
        statement.execute("BEGIN IMMEDIATE");

        assertThatThrownBy(
                () -> {
                  try (AutoCloseable client = connect(other, uri)) {
                    assertThat(tryAcquire(other, client, "other"))
                        .as("granted in the middle of another's write")
                        .isFalse();
                  }
                })
            .hasMessageContaining("another copy of SQLite's driver")
            .extracting(refused -> refused.getClass().getSimpleName())
            .isEqualTo("StoreRefusedException");
        statement.execute("ROLLBACK");
      }
      try (AutoCloseable client = connect(other, uri)) {
        assertThat(tryAcquire(other, client, "ledger")).isTrue();
        assertThatThrownBy(() -> Fenceline.connect(uri))
            .hasMessageContaining("another copy of SQLite's driver");
      }
    }
  }
}
