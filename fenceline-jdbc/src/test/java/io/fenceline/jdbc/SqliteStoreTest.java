package io.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.PermitHold;
import io.fenceline.ReleaseOutcome;
import io.fenceline.StoreRefusedException;
import io.fenceline.diagnosis.Finding;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.jdbc.connection.SqliteConnections;
import io.fenceline.jdbc.connection.SqliteFile;
import io.fenceline.jdbc.contract.DeadClaims;
import io.fenceline.jdbc.contract.LateRequests;
import io.fenceline.jdbc.contract.Sweeping;
import io.fenceline.jdbc.contract.Turns;
import io.fenceline.jdbc.sql.SqliteDialect;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Owner;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.StoreContext;
import io.fenceline.testkit.Eventually;
import io.fenceline.testkit.ManualTime;
import io.fenceline.time.Time;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sqlite.SQLiteDataSource;

/** What is special about SQLite: its file. The rest is in the contract. */
class SqliteStoreTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  private static final Duration BOUND = Duration.ofSeconds(60);

  @TempDir Path folder;

  @Test
  void aLockIsTakenAndGivenBack_byTwoClientsOfOneFile() throws Exception {
    String uri = "sqlite:" + folder.resolve("deep/er/locks.db");
    try (Fenceline one = Fenceline.connect(uri);
        Fenceline two = Fenceline.connect(uri)) {
      long first;
      CompletableFuture<Hold> waiting;
      try (Hold hold = one.lock("ledger").acquire(LONG)) {
        first = hold.token();
        assertThat(two.lock("ledger").tryAcquire()).isEmpty();
        waiting = two.lock("ledger").acquireAsync(LONG);
        assertThat(one.inspect("ledger").waiters()).hasSize(1);
        assertThat(one.list("", 10)).hasSize(1);
      }
      try (Hold hold = waiting.get()) {
        assertThat(hold.token()).isGreaterThan(first);
        assertThat(one.lock("ledger").tryAcquire()).isEmpty();
        assertThat(hold.release()).isEqualTo(ReleaseOutcome.RELEASED);
      }
      assertThat(one.list("", 10)).isEmpty();
    }
  }

  @Test
  void theFirstOfAQueue_isFoundByItsName() {
    Turns.check("sqlite:" + folder.resolve("locks.db"));
  }

  @Test
  void aRequestThatComesLate_doesNotEndALeaseSooner() {
    LateRequests.check("sqlite:" + folder.resolve("locks.db"));
  }

  @Test
  void manyHolds_doNotMakeTheLogLong() throws Exception {
    Path file = folder.resolve("locks.db");
    try (Fenceline fenceline = Fenceline.connect("sqlite:" + file)) {
      List<Hold> holds = new ArrayList<>();
      for (int i = 0; i < 6_000; i++) {
        holds.add(fenceline.lock("name-" + i).tryAcquire().orElseThrow());
      }
      // It is moved into the database after every 4,000 pages; without that, it had 40 MB here.
      // After every 1,000, as SQLite does it, who takes turns would wait for the disk more often.
      assertThat(Files.size(folder.resolve("locks.db-wal"))).isBetween(12_000_000L, 17_000_000L);
      assertThat(Files.size(file)).isGreaterThan(100_000);
      assertThat(holds).allMatch(Hold::isValid);
    }
  }

  @Test
  void sharedHoldsAndPermits_areCounted() throws Exception {
    String uri = "sqlite:" + folder.resolve("locks.db");
    try (Fenceline one = Fenceline.connect(uri);
        Fenceline two = Fenceline.connect(uri)) {
      Hold r1 = one.readWriteLock("doc").readLock().tryAcquire().orElseThrow();
      Hold r2 = two.readWriteLock("doc").readLock().tryAcquire().orElseThrow();
      assertThat(r2.token()).isGreaterThan(r1.token());
      CompletableFuture<Hold> writer = one.readWriteLock("doc").writeLock().acquireAsync(LONG);
      assertThat(two.readWriteLock("doc").readLock().tryAcquire()).isEmpty();
      assertThatThrownBy(() -> two.semaphore("doc", 3).acquire(LONG))
          .isInstanceOf(StoreRefusedException.class);
      r1.close();
      assertThat(writer).isNotDone();
      r2.close();
      writer.get().close();

      List<PermitHold> permits = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        permits.add((i % 2 == 0 ? one : two).semaphore("pool", 3).tryAcquire().orElseThrow());
      }
      assertThat(two.semaphore("pool", 3).tryAcquire()).isEmpty();
      permits.forEach(PermitHold::close);
      assertThat(one.list("", 10)).isEmpty();
    }
  }

  @Test
  void aFileThatIsNoDatabase_isNamed() throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("notes.txt"), "not a database, but long enough".repeat(50));
    assertThatThrownBy(() -> Fenceline.connect("sqlite:" + file))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("not an SQLite database")
        .hasMessageContaining(file.toString());
  }

  @Test
  void aFolderIsNoFile() {
    assertThatThrownBy(() -> Fenceline.connect("sqlite:" + folder))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("it is a folder");
  }

  @Test
  void aPathThroughAFile_isNamed() throws Exception {
    Path file = Files.writeString(folder.resolve("plain"), "x");
    assertThatThrownBy(() -> Fenceline.connect("sqlite:" + file.resolve("sub/locks.db")))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("its folder can't be created")
        .hasMessageContaining(file.toString());
  }

  @Test
  void withoutAPath_theFileIsInTheStateFolder() {
    Path home = Path.of("/home/someone");
    assertThat(SqliteFile.stateFolder(Map.of("XDG_STATE_HOME", "/var/state")::get, home.toString()))
        .isEqualTo(Path.of("/var/state/fenceline/locks.db"));
    assertThat(SqliteFile.stateFolder(Map.of("XDG_STATE_HOME", "relative")::get, home.toString()))
        .isEqualTo(home.resolve(".local/state/fenceline/locks.db"));
    assertThat(SqliteFile.stateFolder(Map.<String, String>of()::get, home.toString()))
        .isEqualTo(home.resolve(".local/state/fenceline/locks.db"));
  }

  @Test
  void clockSetBack_closesADeadHoldersName_forOneLeaseOnly() {
    ManualTime time = new ManualTime();
    String uri = "sqlite:" + folder.resolve("clock.db");
    try (Fenceline dead = Fenceline.builder().store(uri).time(time).connect();
        Fenceline other = Fenceline.builder().store(uri).time(time).connect()) {
      LockOptions fixed = LockOptions.defaults().fixedLease(Duration.ofSeconds(10));
      Hold hold = dead.lock("ledger", fixed).tryAcquire().orElseThrow();
      time.jumpWall(Duration.ofHours(-1));

      assertThat(other.lock("ledger").tryAcquire()).isEmpty();
      assertThat(other.inspect("ledger").holders().get(0).remaining())
          .isLessThanOrEqualTo(Duration.ofSeconds(10));
      time.jumpWall(Duration.ofSeconds(11));

      assertThat(other.lock("ledger").tryAcquire())
          .hasValueSatisfying(next -> assertThat(next.token()).isGreaterThan(hold.token()));
    }
  }

  @Test
  void rowsOfNamesThatWereFreeForADay_areForgotten_andTokensStillRise() throws Exception {
    ManualTime time = new ManualTime();
    StoreContext context =
        new StoreContext(new ClientInfo("test", "host", 1), time, new Random(1), LONG, LONG);
    String uri = "sqlite:" + folder.resolve("janitor.db");
    try (Fenceline fenceline = Fenceline.builder().store(uri).time(time).connect();
        LockStore store = JdbcStores.at(uri).open(context)) {
      Hold old = fenceline.lock("old").tryAcquire().orElseThrow();
      old.close();
      Hold held = fenceline.lock("held").tryAcquire().orElseThrow();
      assertThat(Heard.clean(store)).isZero();

      time.jumpWall(Duration.ofHours(26));
      assertThat(held.isValid()).isFalse();
      Hold fresh = fenceline.lock("fresh").tryAcquire().orElseThrow();

      assertThat(Heard.clean(store)).isGreaterThanOrEqualTo(1);
      assertThat(fenceline.lock("old").tryAcquire())
          .hasValueSatisfying(next -> assertThat(next.token()).isGreaterThan(old.token()));
      assertThat(fenceline.inspect("fresh").holders()).hasSize(1);
      fresh.close();
    }
  }

  @Test
  void fullDisk_isNamed() throws Exception {
    // A file that may not grow fails as it does on a full disk, by SQLite's own error.
    try (Connection small =
            DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("full.db"));
        Statement statement = small.createStatement()) {
      statement.execute("PRAGMA max_page_count = 2");
      statement.execute("CREATE TABLE t (x BLOB)");
      assertThatThrownBy(() -> statement.execute("INSERT INTO t VALUES (zeroblob(100000))"))
          .isInstanceOfSatisfying(
              SQLException.class,
              e -> assertThat(new SqliteDialect().meaning(e)).startsWith("the disk is full"));
    }
  }

  @Test
  void diagnosis_saysWhatWasFound() {
    try (Fenceline fenceline = Fenceline.connect("sqlite:" + folder.resolve("doctor.db"))) {
      assertThat(fenceline.diagnose())
          .extracting(Finding::check, Finding::severity)
          .containsExactly(
              tuple("file permissions", Finding.Severity.OK),
              tuple("version", Finding.Severity.OK),
              tuple("journal_mode", Finding.Severity.OK),
              tuple("synchronous", Finding.Severity.OK));
    }
  }

  /** A time whose clock fails once, where a statement is given the time. */
  private static Time failing(Time time, AtomicBoolean fails) {
    return (Time)
        Proxy.newProxyInstance(
            SqliteStoreTest.class.getClassLoader(),
            new Class<?>[] {Time.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("wallMillis") && fails.getAndSet(false)) {
                throw new NoClassDefFoundError("planted");
              }
              return method.invoke(time, arguments);
            });
  }

  /** A statement runs on the caller's thread, and so does what it throws. */
  @Test
  void claimThatThrowsAnError_canBeWithdrawn() {
    AtomicBoolean fails = new AtomicBoolean();
    Time time = failing(new ManualTime(), fails);
    StoreContext context =
        new StoreContext(new ClientInfo("test", "host", 1), time, new Random(1), LONG, LONG);
    ClaimRequest request =
        new ClaimRequest(
            "error", Owner.draw(new Random(2)), Mode.EXCLUSIVE, LONG, Duration.ZERO, true);
    try (LockStore store = JdbcStores.sqlite(folder.resolve("error.db")).open(context)) {
      fails.set(true);
      try {
        store.claim(request, new Heard.Nothing());
      } catch (NoClassDefFoundError | RuntimeException e) {
        assertThat(e).hasStackTraceContaining("planted");
      }
      assertThat(fails).isFalse();

      assertThat(store.withdraw(request)).succeedsWithin(LONG);
    }
  }

  /** Its connections would not be ours to set: how long they wait, and what they flush. */
  @Test
  void dataSourceOfSqlite_isRefused() {
    SQLiteDataSource given = new SQLiteDataSource();
    given.setUrl("jdbc:sqlite:" + folder.resolve("given.db"));

    assertThatThrownBy(() -> Fenceline.builder().store(JdbcStores.from(given)).connect())
        .hasMessageContaining("for SQLite use JdbcStores.sqlite(file)");
  }

  /** What was read before could be over: a dead waiter would count as one who is before it. */
  @Test
  void claimThatHasWaitedForTheWriter_goesByTheTimeAfterwards() throws Exception {
    ManualTime time = new ManualTime();
    Path file = folder.resolve("time.db");
    try (LockStore store = Heard.open("sqlite:" + file, time);
        Connection other = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = other.createStatement()) {
      Heard holder = new Heard(store, "one", Mode.EXCLUSIVE, LONG);
      assertThat(holder.granted).hasSize(1);
      Heard first = new Heard(store, "one", Mode.EXCLUSIVE, LONG);
      store.withdraw(first.request).join(); // Whoever comes next joins the queue at once.

      statement.execute("BEGIN IMMEDIATE");
      Thread claiming = new Thread(() -> new Heard(store, "one", Mode.EXCLUSIVE, LONG));
      claiming.start();
      Eventually.until(BOUND, "it to wait for the writer", () -> isWaitingForTheWriter(claiming));
      time.jumpWall(Duration.ofSeconds(3));
      statement.execute("COMMIT");
      claiming.join(BOUND.toMillis());

      try (ResultSet claim = statement.executeQuery("SELECT since FROM fenceline_claims")) {
        assertThat(claim.next()).isTrue();
        assertThat(claim.getLong(1)).isEqualTo(time.wallMillis() * 1_000);
      }
    }
  }

  /** The bell says nothing at the end of that time; before, looks came often enough at first. */
  @Test
  void nameThatAReleaseKeepsClosed_isGrantedAsSoonAsItOpens() {
    ManualTime time = new ManualTime();
    String uri = "sqlite:" + folder.resolve("closed.db");
    try (LockStore one = Heard.open(uri, time);
        LockStore two = Heard.open(uri, time)) {
      assertThat(new Heard(one, "ears", Mode.EXCLUSIVE, LONG).granted).hasSize(1);
      Heard first = new Heard(two, "ears", Mode.EXCLUSIVE, LONG);
      Eventually.until(BOUND, "ears to hear", () -> Heard.isTold(two));
      two.withdraw(first.request).join();

      Heard holder = new Heard(one, "ledger", Mode.EXCLUSIVE, LONG);
      Heard next = new Heard(two, "ledger", Mode.EXCLUSIVE, LONG);
      assertThat(next.waiting).isOne();
      one.release(new ReleaseRequest(holder.grant(), Duration.ofMillis(300))).join();
      time.advance(Duration.ofMillis(299));
      assertThat(next.granted).isEmpty();
      time.advance(Duration.ofMillis(51));
      assertThat(next.granted).hasSize(1);
    }
  }

  /** On the thread that may wait, not on the caller's, which does so for half a millisecond. */
  private static boolean isWaitingForTheWriter(Thread thread) {
    List<String> methods =
        Arrays.stream(thread.getStackTrace()).map(StackTraceElement::getMethodName).toList();
    return methods.contains("use") && methods.contains("callback");
  }

  /** As when several processes start, and find no file. */
  @Test
  void newFileThatAnotherOneIsWriting_isWaitedFor() throws Exception {
    Path file = folder.resolve("new.db");
    try (Connection other = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = other.createStatement()) {
      statement.execute("BEGIN IMMEDIATE");
      CompletableFuture<Boolean> taken = new CompletableFuture<>();
      Thread opening =
          new Thread(
              () -> {
                try (Fenceline client = Fenceline.builder().store("sqlite:" + file).connect()) {
                  taken.complete(client.lock("one").tryAcquire().isPresent());
                } catch (RuntimeException e) {
                  taken.completeExceptionally(e);
                }
              });
      opening.start();
      Eventually.until(
          BOUND,
          "it to wait",
          () -> taken.isDone() || opening.getState() == Thread.State.TIMED_WAITING);
      statement.execute("COMMIT");
      assertThat(taken.get(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void fileThatCannotHaveAWriteAheadLog_isRefused() {
    // By a way to the file without shared memory, as on a file system that has none.
    String file = "file:" + folder.resolve("dot.db") + "?vfs=unix-dotfile";

    assertThatThrownBy(() -> SqliteConnections.open(file, new ManualTime(), LONG))
        .isInstanceOf(SQLException.class)
        .hasMessageContaining("journal_mode = delete")
        .hasMessageContaining("use a local file system");
  }

  @Test
  void networkFileSystem_isRefused() {
    Path file = folder.resolve("locks.db");
    List<String> shared = // With other machines, or by a virtual machine with its host.
        List.of(
            "nfs",
            "nfs4",
            "cifs",
            "smb3",
            "9p",
            "fuse.sshfs",
            "ceph",
            "fuse.juicefs",
            "vboxsf",
            "fuse.vmhgfs-fuse",
            "fuse.grpcfuse",
            "prl_fs",
            "fuse.mount-s3");
    for (String type : shared) {
      assertThatThrownBy(() -> SqliteFile.checkLocal(file, "sqlite:" + file, any -> type))
          .isInstanceOf(StoreRefusedException.class)
          .hasMessageContaining("network file system (" + type + ")");
    }
    List<String> local =
        List.of(
            "ext4",
            "xfs",
            "btrfs",
            "tmpfs",
            "overlay",
            "zfs",
            "apfs",
            "NTFS",
            "fuse.fuse-overlayfs",
            "virtiofs");
    for (String type : local) {
      SqliteFile.checkLocal(file, "sqlite:" + file, any -> type);
    }
    assertThat(SqliteFile.fileSystem(folder)).isNotEmpty();
  }

  @Test
  void linkToANetworkFileSystem_isRefused() throws Exception {
    Path far = Files.createDirectory(folder.resolve("far")).toRealPath();
    Path file = Files.createFile(far.resolve("locks.db"));
    Path link = Files.createSymbolicLink(folder.resolve("near.db"), file);

    assertThatThrownBy(
            () ->
                SqliteFile.checkLocal(
                    link, "sqlite:" + link, path -> path.startsWith(far) ? "nfs4" : "ext4"))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("network file system (nfs4)");
  }

  @Test
  void fileIsDurable_sinceAPowerFailureEndsTheHoldersToo() {
    try (Fenceline fenceline =
        Fenceline.builder()
            .store("sqlite:" + folder.resolve("durable.db"))
            .require(Guarantee.DURABLE)
            .connect()) {
      assertThat(fenceline.guarantees().onCrash()).contains("power failure");
    }
  }

  @Test
  void oneSweep_removesAllThatIsOld() throws Exception {
    Path file = folder.resolve("sweep.db");
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file)) {
      Sweeping.checkAmount("sqlite:" + file, connection);
    }
  }

  @Test
  void forgottenNames_keepTokensRising_whenTheClockIsSetBack() throws Exception {
    String uri = "sqlite:" + folder.resolve("forgotten.db");
    ManualTime time = new ManualTime();
    long token;
    try (Fenceline one = Fenceline.builder().store(uri).time(time).connect()) {
      Hold old = one.lock("old").tryAcquire().orElseThrow();
      token = old.token();
      old.release();
    }
    time.jumpWall(Duration.ofHours(30));
    try (LockStore sweeper = Heard.open(uri, time)) {
      assertThat(Heard.clean(sweeper)).isEqualTo(1);
    }
    time.jumpWall(Duration.ofHours(-31));
    try (Fenceline fresh = Fenceline.builder().store(uri).time(time).connect()) {
      assertThat(fresh.lock("old").tryAcquire().orElseThrow().token()).isGreaterThan(token);
      assertThat(fresh.readWriteLock("new").readLock().tryAcquire().orElseThrow().token())
          .isGreaterThan(token);
    }
  }

  @Test
  void claimsOfTheDead_areRemovedManyAtATime() throws Exception {
    Path file = folder.resolve("dead.db");
    Fenceline.connect("sqlite:" + file).close();
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file)) {
      DeadClaims.check("sqlite:" + file, connection);
    }
  }
}
