package io.fenceline.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.zaxxer.hikari.HikariDataSource;
import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import io.fenceline.FencelineBuilder;
import io.fenceline.Hold;
import io.fenceline.diagnosis.LockReport;
import io.fenceline.jdbc.Database;
import io.fenceline.jdbc.JdbcStores;
import io.fenceline.memory.MemorySpace;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.StoreFactory;
import io.fenceline.spring.Locked;
import io.fenceline.spring.LockedContext;
import io.fenceline.testbed.server.MariaDbServer;
import io.fenceline.testbed.server.MySqlServer;
import io.fenceline.testbed.server.NeedsMySql;
import io.fenceline.testbed.server.PostgresServer;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testkit.Eventually;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.Driver;
import org.slf4j.LoggerFactory;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabase;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Where the locks of an application are, with the starter and nothing else. */
@Timeout(600)
class StoreChoiceTest {
  private static PostgresServer postgres;
  private static RedisServer redis;

  @BeforeAll
  static void start() {
    postgres = PostgresServer.start();
    redis = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    postgres.close();
    redis.close();
  }

  private static String[] postgres() {
    return new String[] {
      "spring.datasource.url=" + postgres.jdbcUrl(),
      "spring.datasource.username=" + postgres.user(),
      "spring.datasource.password=" + postgres.password()
    };
  }

  private static void lockAndRelease(Fenceline fenceline) {
    Hold hold = fenceline.lock("any").tryAcquire().orElseThrow();
    assertThat(fenceline.inspect("any").holders()).hasSize(1);
    hold.close();
  }

  private static FailureAnalysis failure(ApplicationContextRunner runner) {
    FailureAnalysis[] found = new FailureAnalysis[1];
    runner.run(
        context -> {
          assertThat(context).hasFailed();
          found[0] = Boot.analysis(context.getStartupFailure());
        });
    return found[0];
  }

  @Test
  void nothing_isAFailure_withTheLinesThatWouldMendIt() {
    FailureAnalysis analysis = failure(Boot.alone());
    assertThat(analysis.getDescription())
        .contains("has no store for locks")
        .contains("neither a DataSource nor a connection to Redis");
    assertThat(analysis.getAction())
        .contains("fenceline.store=jdbc:postgresql://")
        .contains("fenceline.store=redis://")
        .contains("fenceline.store=sqlite:")
        .contains("fenceline.store=memory:");
  }

  @Test
  void memory_isUsedIfItIsSaid() {
    Boot.alone()
        .withPropertyValues("fenceline.store=memory:")
        .run(
            context -> {
              Fenceline fenceline = context.getBean(Fenceline.class);
              assertThat(fenceline.store()).startsWith("memory");
              try (Hold hold = fenceline.lock("label").tryAcquire().orElseThrow()) {
                LockReport report = fenceline.inspect("label");
                assertThat(report.holders().get(0).label())
                    .startsWith("shop@")
                    .endsWith(":" + ProcessHandle.current().pid());
              }
            });
  }

  @Test
  void h2_isAFailure_andNeverMemory() {
    FailureAnalysis analysis =
        failure(Boot.withDataSource().withPropertyValues("spring.datasource.url=jdbc:h2:mem:x"));
    assertThat(analysis.getDescription())
        .contains(
            "the DataSource is H2, which is not supported for locks; use PostgreSQL, MariaDB or MySQL");
  }

  /** Databases that no test can have: all that counts is what they call themselves. */
  private static DataSource calledBy(String product) {
    EmbeddedDatabase h2 =
        new EmbeddedDatabaseBuilder()
            .setType(EmbeddedDatabaseType.H2)
            .generateUniqueName(true)
            .build();
    return new DelegatingDataSource(h2) {
      @Override
      public Connection getConnection() throws SQLException {
        Connection connection = super.getConnection();
        DatabaseMetaData about = connection.getMetaData();
        DatabaseMetaData called =
            (DatabaseMetaData)
                with(DatabaseMetaData.class, about, "getDatabaseProductName", product);
        return (Connection) with(Connection.class, connection, "getMetaData", called);
      }
    };
  }

  /** The same, but for what one method answers. */
  private static Object with(Class<?> type, Object real, String changed, Object answer) {
    return Proxy.newProxyInstance(
        type.getClassLoader(),
        new Class<?>[] {type},
        (self, method, given) ->
            method.getName().equals(changed) ? answer : method.invoke(real, given));
  }

  @ParameterizedTest
  @ValueSource(strings = {"Oracle", "Microsoft SQL Server"})
  void databaseThatCantKeepLocks_isAFailure_andNeverMemory(String product) {
    FailureAnalysis analysis =
        failure(Boot.withDataSource().withBean(DataSource.class, () -> calledBy(product)));
    assertThat(analysis.getDescription())
        .contains("the DataSource is " + product + ", which is not supported for locks");
    assertThat(analysis.getAction()).contains("fenceline.store=jdbc:postgresql://");
  }

  @Test
  void dataSourceThatIsNotThere_isAFailure_withoutSecrets() {
    FailureAnalysis analysis =
        failure(
            Boot.withDataSource()
                .withPropertyValues(
                    "spring.datasource.url=jdbc:postgresql://127.0.0.1:1/shop",
                    "spring.datasource.username=app",
                    "spring.datasource.password=hidden"));
    assertThat(analysis.getDescription()).contains("127.0.0.1:1").doesNotContain("hidden");
    assertThat(analysis.getAction()).contains("spring.datasource.*");
  }

  /** What can't be looked at is not taken, with settings that are the default's or a guess. */
  @Test
  void dataSourceThatIsThereTooLate_isAFailure() {
    AtomicInteger asked = new AtomicInteger();
    DataSource late =
        new DelegatingDataSource(
            new SimpleDriverDataSource(
                new Driver(), postgres.jdbcUrl(), postgres.user(), postgres.password())) {
          @Override
          public Connection getConnection() throws SQLException {
            if (asked.incrementAndGet() == 1) {
              throw new SQLException("the server is starting up");
            }
            return super.getConnection();
          }
        };
    FailureAnalysis analysis =
        failure(
            Boot.withDataSource()
                .withBean(DataSource.class, () -> late)
                .withPropertyValues("fenceline.jdbc.table-prefix=late"));
    assertThat(analysis.getDescription()).contains("the server is starting up");
  }

  @Test
  void sqlite_isAFailure_thatSaysToTakeAFileOfItsOwn() {
    FailureAnalysis analysis =
        failure(
            Boot.withDataSource().withPropertyValues("spring.datasource.url=jdbc:sqlite::memory:"));
    assertThat(analysis.getDescription()).contains("fenceline.store=sqlite:/path/locks.db");
  }

  @Test
  void postgres_isTheDataSource() {
    Boot.withDataSource()
        .withPropertyValues(postgres())
        .withPropertyValues("fenceline.jdbc.table-prefix=plain")
        .run(
            context -> {
              Fenceline fenceline = context.getBean(Fenceline.class);
              assertThat(fenceline.store()).startsWith("jdbc:postgresql:");
              assertThat(context).hasSingleBean(DataSource.class);
              lockAndRelease(fenceline);
              assertThat(postgres.sql("SELECT to_regclass('plain_locks') IS NOT NULL"))
                  .contains("t");
            });
  }

  @Test
  void detailsOfAnotherDatabase_areNotUsed_andThatIsSaid() {
    List<String> warnings =
        warnings("jdbc:postgresql://elsewhere/x", StoreChoiceTest::lockAndRelease);
    assertThat(warnings)
        .singleElement()
        .asString()
        .contains("Renewals share the application's DataSource")
        .contains("fenceline.jdbc.own-connections=false");
  }

  /** Two that are opened as the connection details say, beside a pool that they know nothing of. */
  @Test
  void ownConnections_areThoseOfTheConnectionDetails_whereThePoolIsUnknown() {
    List<String> warnings =
        warnings(
            postgres.jdbcUrl() + "?ApplicationName=own-connections",
            fenceline -> {
              try (Fenceline other = Fenceline.connect(withUser());
                  Hold inTheWay = other.lock("waited for").tryAcquire().orElseThrow();
                  Hold renewed = fenceline.lock("own").tryAcquire().orElseThrow()) {
                CompletableFuture<Hold> waiting =
                    fenceline.lock("waited for").acquireAsync(Duration.ofMinutes(2));
                Eventually.until(
                    Duration.ofMinutes(1),
                    "one connection that renews, and one that listens for those who wait",
                    () -> ownConnections() == 2);
                assertThat(inTheWay.isValid()).isTrue();
                assertThat(renewed.isValid()).isTrue();
                waiting.cancel(false);
              }
            });
    assertThat(warnings).isEmpty();
  }

  private static String withUser() {
    return postgres.jdbcUrl() + "?user=" + postgres.user() + "&password=" + postgres.password();
  }

  private static int ownConnections() {
    return Integer.parseInt(
        postgres
            .sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'own-connections'")
            .strip());
  }

  /** What is warned of where the pool is not known, and the details have this URL. */
  private static List<String> warnings(String url, Consumer<Fenceline> use) {
    SimpleDriverDataSource unknown =
        new SimpleDriverDataSource(
            new Driver(), postgres.jdbcUrl(), postgres.user(), postgres.password());
    JdbcDetails details = new JdbcDetails(url, postgres.user(), postgres.password(), null);
    ListAppender<ILoggingEvent> logged = new ListAppender<>();
    Logger logger = (Logger) LoggerFactory.getLogger(DataSourceStoreSource.class);
    logged.start();
    logger.addAppender(logged);
    try {
      Boot.withDataSource()
          .withBean(DataSource.class, () -> unknown)
          .withBean(JdbcDetails.class, () -> details)
          .withPropertyValues("fenceline.lease=9s")
          .run(context -> use.accept(context.getBean(Fenceline.class)));
    } finally {
      logger.detachAppender(logged);
    }
    return logged.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  @Test
  void transactionOfTheCaller_isNeitherJoinedNorCommitted() {
    Boot.withDataSource()
        .withPropertyValues(postgres())
        .run(
            context -> {
              JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
              jdbc.execute("CREATE TABLE IF NOT EXISTS joined (x int)");
              Fenceline fenceline = context.getBean(Fenceline.class);
              new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
                  .executeWithoutResult(
                      status -> {
                        jdbc.update("INSERT INTO joined VALUES (1)");
                        Hold hold = fenceline.lock("joined").tryAcquire().orElseThrow();
                        assertThat(
                                jdbc.queryForObject("SELECT count(*) FROM joined", Integer.class))
                            .isEqualTo(1);
                        assertThat(postgres.sql("SELECT count(*) FROM joined")).contains("0");
                        status.setRollbackOnly();
                        hold.close();
                      });
              assertThat(jdbc.queryForObject("SELECT count(*) FROM joined", Integer.class))
                  .isZero();
              assertThat(fenceline.inspect("joined").isFree()).isTrue();
            });
  }

  @Test
  void schema_canBeLeftToSomebodyElse() throws IOException {
    ApplicationContextRunner never =
        Boot.withDataSource()
            .withPropertyValues(
                "spring.datasource.url=" + postgres.jdbcUrl() + "?currentSchema=migrated",
                "spring.datasource.username=" + postgres.user(),
                "spring.datasource.password=" + postgres.password(),
                "fenceline.jdbc.initialize-schema=never");
    postgres.sql("CREATE SCHEMA migrated");
    FailureAnalysis analysis = failure(never);
    assertThat(analysis.getDescription() + analysis.getAction())
        .contains("fenceline.jdbc.initialize-schema=never");
    postgres.sql("SET search_path = migrated;\n" + script(Database.POSTGRESQL));
    never.run(context -> lockAndRelease(context.getBean(Fenceline.class)));
  }

  /** As migrations do that run with more rights than the application has. */
  @Test
  void tablesOfAnotherRole_areUsedIfItIsNamed() throws IOException {
    postgres.sql(
        """
        CREATE ROLE migrations;
        CREATE SCHEMA handed;
        GRANT ALL ON SCHEMA handed TO migrations;
        SET ROLE migrations;
        SET search_path = handed;
        """
            + script(Database.POSTGRESQL)
            + "GRANT ALL ON ALL TABLES IN SCHEMA handed TO "
            + postgres.user());
    ApplicationContextRunner handed =
        Boot.withDataSource()
            .withPropertyValues(postgres())
            .withPropertyValues(
                "fenceline.jdbc.schema=handed", "fenceline.jdbc.initialize-schema=never");
    FailureAnalysis analysis = failure(handed);
    assertThat(analysis.getDescription()).contains("belongs to migrations");
    assertThat(analysis.getAction()).contains("fenceline.jdbc.tables-owner");
    handed
        .withPropertyValues("fenceline.jdbc.tables-owner=migrations")
        .run(context -> lockAndRelease(context.getBean(Fenceline.class)));
  }

  private static String script(Database database) throws IOException {
    String name = "schema-" + database.name().toLowerCase(Locale.ROOT) + ".sql";
    try (var script = FencelineProperties.class.getResourceAsStream(name)) {
      return new String(script.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"POSTGRESQL", "MARIADB", "MYSQL"})
  void scripts_areWhatTheStoreWouldDo(Database database) throws IOException {
    String url = "jdbc:" + database.name().toLowerCase(Locale.ROOT) + "://h/d";
    assertThat(script(database)).endsWith(JdbcStores.at(url).schema(database));
  }

  @Test
  @NeedsMySql
  @Tag("long")
  void mySql_isTheDataSource() {
    try (MySqlServer mySql = MySqlServer.start()) {
      Boot.withDataSource()
          .withPropertyValues(
              "spring.datasource.url="
                  + mySql.jdbcUrl()
                  + "?allowPublicKeyRetrieval=true&sslMode=DISABLED",
              "spring.datasource.username=" + mySql.user(),
              "spring.datasource.password=" + mySql.password())
          .run(context -> lockAndRelease(context.getBean(Fenceline.class)));
    }
  }

  @Test
  void mariaDb_isTheDataSource() {
    try (MariaDbServer mariaDb = MariaDbServer.start()) {
      Boot.withDataSource()
          .withPropertyValues(
              "spring.datasource.url=" + mariaDb.jdbcUrl(),
              "spring.datasource.username=" + mariaDb.user(),
              "spring.datasource.password=" + mariaDb.password())
          .run(context -> lockAndRelease(context.getBean(Fenceline.class)));
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class TwoDataSources {
    @Bean
    HikariDataSource orders() {
      return (HikariDataSource) DataSourceBuilder.create().url("jdbc:h2:mem:orders").build();
    }

    @Bean
    HikariDataSource reports() {
      return (HikariDataSource) DataSourceBuilder.create().url("jdbc:h2:mem:reports").build();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class MarkedDataSource {
    @Bean
    @FencelineDataSource
    HikariDataSource locks() {
      return (HikariDataSource)
          DataSourceBuilder.create()
              .url(postgres.jdbcUrl())
              .username(postgres.user())
              .password(postgres.password())
              .build();
    }
  }

  /** db-scheduler#626: which of several data sources it is has to be said. */
  @Test
  void severalDataSources_needAMark() {
    FailureAnalysis analysis =
        failure(Boot.withDataSource().withUserConfiguration(TwoDataSources.class));
    assertThat(analysis.getDescription())
        .contains("[orders, reports]")
        .contains("@FencelineDataSource");
    Boot.withDataSource()
        .withUserConfiguration(TwoDataSources.class, MarkedDataSource.class)
        .run(context -> lockAndRelease(context.getBean(Fenceline.class)));
  }

  @Test
  void dataSource_comesBeforeRedis_andAUriBeforeBoth() {
    ApplicationContextRunner both =
        Boot.withBoth()
            .withPropertyValues(postgres())
            .withPropertyValues(
                "spring.data.redis.host=" + redis.host(), "spring.data.redis.port=" + redis.port());
    both.run(
        context ->
            assertThat(context.getBean(Fenceline.class).store()).startsWith("jdbc:postgresql:"));
    both.withPropertyValues("fenceline.store=redis")
        .run(context -> assertThat(context.getBean(Fenceline.class).store()).startsWith("redis:"));
    both.withPropertyValues("fenceline.store=memory:shared")
        .run(context -> assertThat(context.getBean(Fenceline.class).store()).startsWith("memory"));
    assertThat(failure(both.withPropertyValues("fenceline.store=nosuch")).getDescription())
        .contains("fenceline.store=nosuch")
        .contains("[datasource, redis]");
  }

  @Test
  void h2_besideRedis_leavesTheLocksToRedis() {
    Boot.withBoth()
        .withPropertyValues(
            "spring.datasource.url=jdbc:h2:mem:y",
            "spring.data.redis.host=" + redis.host(),
            "spring.data.redis.port=" + redis.port())
        .run(context -> assertThat(context.getBean(Fenceline.class).store()).startsWith("redis:"));
  }

  @Test
  void storeThatIsNotThere_isAFailure_withoutSecrets() {
    FailureAnalysis analysis =
        failure(
            Boot.alone()
                .withPropertyValues(
                    "fenceline.store=redis://:hidden@127.0.0.1:1",
                    "fenceline.connect-timeout=500ms"));
    assertThat(analysis.getDescription()).contains("127.0.0.1:1").doesNotContain("hidden");
    assertThat(analysis.getAction()).contains("fenceline.connect-timeout");
  }

  @Test
  void guaranteeThatIsNotGiven_isAFailure() {
    FailureAnalysis analysis =
        failure(
            Boot.alone()
                .withPropertyValues("fenceline.store=memory:", "fenceline.require=linearizable"));
    assertThat(analysis.getDescription()).contains("LINEARIZABLE");
  }

  static class Broken {
    @Locked("order:#id")
    public void pay(long id) {}
  }

  @Test
  void lockedMethodThatCantWork_isAFailure() {
    FailureAnalysis analysis =
        failure(Boot.alone().withPropertyValues("fenceline.store=memory:").withBean(Broken.class));
    assertThat(analysis.getDescription()).contains("@Locked on Broken.pay(long) can't work");
    assertThat(analysis.getAction()).isEqualTo("Write #{#id}.");
  }

  @Configuration(proxyBeanMethods = false)
  static class TwoClients {
    @Bean
    Fenceline orders(FencelineBuilder builder) {
      return builder.store("memory:orders").connect();
    }

    @Bean
    Fenceline billing(FencelineBuilder builder) {
      return builder.store("memory:billing").connect();
    }

    @Bean
    Charges charges() {
      return new Charges();
    }
  }

  static class Charges {
    @Locked(name = "charge:#{#id}", client = "billing")
    public Hold charge(long id, Hold hold) {
      LockedContext.assertHeld();
      return hold;
    }
  }

  @Test
  void severalClients_areChosenByName() {
    Boot.alone()
        .withUserConfiguration(TwoClients.class)
        .run(
            context -> {
              assertThat(context.getBean(Charges.class).charge(1, null).name())
                  .isEqualTo("charge:1");
              Fenceline billing = context.getBean("billing", Fenceline.class);
              Fenceline orders = context.getBean("orders", Fenceline.class);
              try (Hold held = orders.lock("charge:1").tryAcquire().orElseThrow()) {
                assertThat(context.getBean(Charges.class).charge(1, null)).isNotNull();
              }
              assertThat(billing.inspect("charge:1").isFree()).isTrue();
            });
  }

  static class Grouped {
    @Locked("order:#{#id}")
    public Hold order(long id, Hold hold) {
      return hold;
    }

    @Locked("order:vip:#{#id}")
    public Hold vip(long id, Hold hold) {
      return hold;
    }

    @Locked(name = "order:own", lease = "7s")
    public Hold own(Hold hold) {
      return hold;
    }

    @Locked("other")
    public Hold other(Hold hold) {
      return hold;
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Observed {
    @Bean
    AtomicReference<StoreContext> given() {
      return new AtomicReference<>();
    }

    @Bean
    Fenceline client(FencelineBuilder builder, AtomicReference<StoreContext> given) {
      StoreFactory store = MemorySpace.create(System::currentTimeMillis).factory();
      StoreFactory observed =
          context -> {
            given.set(context);
            return store.open(context);
          };
      return builder.store(observed).connect();
    }
  }

  /** What {@code fenceline.*} says, as the client and its store get it. */
  @Test
  void settings_reachTheClient() {
    Boot.alone()
        .withUserConfiguration(Observed.class)
        .withPropertyValues(
            "fenceline.label=till-7",
            "fenceline.connect-timeout=7s",
            "fenceline.operation-timeout=4s",
            "fenceline.token-base=281474976710656",
            "fenceline.hand-off.times=0")
        .run(
            context -> {
              StoreContext given = (StoreContext) context.getBean(AtomicReference.class).get();
              assertThat(given.client().label()).isEqualTo("till-7");
              assertThat(given.connectTimeout()).hasSeconds(7);
              assertThat(given.operationTimeout()).hasSeconds(4);
              FencedLock lock = context.getBean(Fenceline.class).lock("x");
              Hold first = lock.tryAcquire().orElseThrow();
              CompletableFuture<Hold> waiting = lock.acquireAsync(Duration.ofMinutes(1));
              first.close();
              Hold second = waiting.join();
              assertThat(first.token() >> 8).isGreaterThanOrEqualTo(281474976710656L);
              assertThat(second.token() & 0xff).as("number of hand-offs").isZero();
              second.close();
            });
  }

  @Test
  void options_comeFromTheAnnotation_thenTheGroup_thenTheClient() {
    Boot.alone()
        .withPropertyValues(
            "fenceline.store=memory:",
            "fenceline.lease=40s",
            "fenceline.groups.orders.names=order:*",
            "fenceline.groups.orders.lease=20s",
            "fenceline.groups.vip.names=order:vip:*",
            "fenceline.groups.vip.lease=50s")
        .withBean(Grouped.class)
        .run(
            context -> {
              Grouped grouped = context.getBean(Grouped.class);
              assertThat(grouped.order(1, null).lease()).hasSeconds(20);
              assertThat(grouped.vip(1, null).lease()).hasSeconds(50);
              assertThat(grouped.own(null).lease()).hasSeconds(7);
              assertThat(grouped.other(null).lease()).hasSeconds(40);
            });
  }
}
