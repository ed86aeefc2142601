/**
 * Locks in SQLite, PostgreSQL, MariaDB and MySQL; start at {@link io.fenceline.jdbc.JdbcStores}.
 */
module io.fenceline.jdbc {
  requires transitive io.fenceline;
  requires transitive java.sql;
  requires org.slf4j;
  requires com.zaxxer.hikari;
  requires static org.jspecify;
  requires static org.mariadb.jdbc;
  requires static org.postgresql.jdbc;
  requires static org.xerial.sqlitejdbc;

  exports io.fenceline.jdbc;
  // Drivers make our sockets by name.
  exports io.fenceline.jdbc.connection to
      org.mariadb.jdbc,
      org.postgresql.jdbc;

  provides io.fenceline.spi.StoreProvider with
      io.fenceline.jdbc.JdbcProvider;
}
