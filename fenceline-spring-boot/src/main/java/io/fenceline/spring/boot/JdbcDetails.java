package io.fenceline.spring.boot;

import org.jspecify.annotations.Nullable;

/**
 * How the application's {@code DataSource} is connected, as its connection details say.
 *
 * @param driver null if the URL says it
 */
public record JdbcDetails(
    String url, @Nullable String username, @Nullable String password, @Nullable String driver) {

  /** Without secrets. */
  @Override
  public String toString() {
    int query = url.indexOf('?');
    return query < 0 ? url : url.substring(0, query);
  }
}
