package io.fenceline.spring.boot.jpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.FencingToken;
import io.fenceline.StaleTokenException;
import io.fenceline.jdbc.Database;
import io.fenceline.jdbc.FencedRow;
import io.fenceline.jdbc.JdbcFence;
import io.fenceline.spring.Locked;
import io.fenceline.spring.boot.Boot;
import io.fenceline.testbed.server.PostgresServer;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceContext;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.hibernate.Session;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

/** Locked methods that read and write entities, with and without a fence; on Boot 4 and 3.5. */
@Timeout(600)
class JpaTest {
  private static final int THREADS = 4;
  private static final int CALLS = 10;

  private static PostgresServer postgres;

  /** Something that two may want to change. */
  @Entity(name = "account")
  public static class Account {
    @Id private long id;
    private int balance;

    int balance() {
      return balance;
    }

    void add(int amount) {
      balance += amount;
    }
  }

  static class Accounts {
    @PersistenceContext private EntityManager entities;
    @Autowired private JdbcTemplate jdbc;
    private final JdbcFence fence = JdbcFence.create().tablePrefix("jpa");
    private final FencedRow row = FencedRow.of("account", "id", "fence");

    /** The entity is read after the lock was acquired, and written before it is released. */
    @Locked(name = "account:#{#id}", maxWait = "1m")
    @Transactional
    public void deposit(long id, int amount) {
      entities.find(Account.class, id).add(amount);
    }

    @Transactional
    public void depositWithoutLock(long id, int amount, CyclicBarrier bothHaveRead)
        throws Exception {
      Account account = entities.find(Account.class, id);
      bothHaveRead.await(1, TimeUnit.MINUTES);
      account.add(amount);
    }

    /** The fence is asked on the connection of the transaction that writes. */
    @Locked(name = "account:#{#id}", maxWait = "1m")
    @Transactional
    public void depositFenced(long id, int amount, FencingToken token, Meanwhile meanwhile) {
      meanwhile.happens(token);
      entities
          .unwrap(Session.class)
          .doWork(connection -> fence.check(connection, "account:" + id, token));
      entities.find(Account.class, id).add(amount);
    }

    /** The token is in the row that is written; {@code JdbcTemplate} has the same connection. */
    @Locked(name = "account:#{#id}", maxWait = "1m")
    @Transactional
    public void depositFencedByRow(long id, int amount, FencingToken token, Meanwhile meanwhile) {
      meanwhile.happens(token);
      jdbc.execute(
          (ConnectionCallback<Void>)
              connection -> {
                row.check(connection, id, token);
                return null;
              });
      jdbc.update("UPDATE account SET balance = balance + ? WHERE id = ?", amount, id);
    }
  }

  /** What happens while the method stands still. */
  interface Meanwhile {
    void happens(FencingToken token);
  }

  @BeforeAll
  static void start() {
    postgres = PostgresServer.start();
    postgres.sql(
        "CREATE TABLE account (id bigint PRIMARY KEY, balance int NOT NULL, fence bigint)");
    postgres.sql(JdbcFence.create().tablePrefix("jpa").schema(Database.POSTGRESQL));
  }

  @AfterAll
  static void stop() {
    postgres.close();
  }

  @BeforeEach
  void open() {
    postgres.sql("DELETE FROM account; INSERT INTO account (id, balance) VALUES (1, 0)");
  }

  private static int balance() {
    return Integer.parseInt(postgres.sql("SELECT balance FROM account").strip());
  }

  private static ApplicationContextRunner application() {
    return Boot.withJpa()
        .withPropertyValues(
            "spring.datasource.url=" + postgres.jdbcUrl(),
            "spring.datasource.username=" + postgres.user(),
            "spring.datasource.password=" + postgres.password(),
            "spring.jpa.hibernate.ddl-auto=none")
        .withBean(Accounts.class);
  }

  @Test
  void lockedTransactionalEntities_loseNoUpdate_andWithoutTheLockOneIsLost() {
    application()
        .run(
            context -> {
              Accounts accounts = context.getBean(Accounts.class);
              List<CompletableFuture<Void>> all = new ArrayList<>();
              for (int thread = 0; thread < THREADS; thread++) {
                all.add(
                    inThread(
                        () -> {
                          for (int i = 0; i < CALLS; i++) {
                            accounts.deposit(1, 1);
                          }
                        }));
              }
              all.forEach(CompletableFuture::join);
              assertThat(balance()).isEqualTo(THREADS * CALLS);

              open();
              CyclicBarrier both = new CyclicBarrier(2);
              CompletableFuture<Void> other =
                  inThread(() -> accounts.depositWithoutLock(1, 1, both));
              accounts.depositWithoutLock(1, 1, both);
              other.join();
              assertThat(balance()).as("one of two deposits is lost").isEqualTo(1);
            });
  }

  /** A deposit under a lock and a fence. */
  private interface Deposit {
    void to(Accounts accounts, int amount, Meanwhile meanwhile);
  }

  /**
   * One instance loses its lock in the middle of its transaction; another one deposits meanwhile.
   */
  @Test
  void writesOfATransactionThatLostItsLock_areRefused() {
    application()
        .run(
            one ->
                application()
                    .run(
                        two -> {
                          refusesTheOlder(
                              one,
                              two,
                              (accounts, amount, meanwhile) ->
                                  accounts.depositFenced(1, amount, null, meanwhile));
                          open();
                          refusesTheOlder(
                              one,
                              two,
                              (accounts, amount, meanwhile) ->
                                  accounts.depositFencedByRow(1, amount, null, meanwhile));
                        }));
  }

  private static void refusesTheOlder(
      ApplicationContext one, ApplicationContext two, Deposit deposit) {
    Meanwhile taken =
        token -> {
          Fenceline operator = two.getBean(Fenceline.class);
          assertThat(operator.forceRelease("account:1", token.value())).isTrue();
          inThread(() -> deposit.to(two.getBean(Accounts.class), 10, newer -> {})).join();
        };
    assertThatThrownBy(() -> deposit.to(one.getBean(Accounts.class), 1, taken))
        .isInstanceOf(StaleTokenException.class);
    assertThat(balance()).as("of the newer holder only").isEqualTo(10);
  }

  /** Work that may throw. */
  interface Work {
    void run() throws Exception;
  }

  private static CompletableFuture<Void> inThread(Work work) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
                done.complete(null);
              } catch (Throwable e) {
                done.completeExceptionally(e);
              }
            });
    thread.setDaemon(true);
    thread.start();
    return done;
  }
}
