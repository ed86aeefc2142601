package io.fenceline.bench.contender;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** Spring Integration's registry on JDBC, with its defaults. */
final class SpringJdbcLocks implements Contender {
  private final HikariDataSource pool;
  private final JdbcLockRegistry registry;

  SpringJdbcLocks(String address) throws SQLException {
    this.pool = Database.pool(address, Database.USUAL_SIZE);
    Database.create(
        pool,
        "int_lock (lock_key char(36) NOT NULL, region varchar(100) NOT NULL, client_id char(36),"
            + " created_date timestamp NOT NULL, expired_after timestamp NOT NULL,"
            + " CONSTRAINT int_lock_pk PRIMARY KEY (lock_key, region))");
    DefaultLockRepository repository = new DefaultLockRepository(pool);
    repository.setTransactionManager(new JdbcTransactionManager(pool));
    // For PostgreSQL, as its documentation has it: an insert must not fail its transaction.
    repository.setInsertQuery(repository.getInsertQuery() + " ON CONFLICT DO NOTHING");
    repository.afterPropertiesSet();
    repository.afterSingletonsInstantiated();
    repository.start();
    this.registry = new JdbcLockRegistry(repository);
  }

  @Override
  public Cycle on(String name) {
    return JavaLock.cycle(registry.obtain(name));
  }

  @Override
  public void close() {
    pool.close();
  }
}
