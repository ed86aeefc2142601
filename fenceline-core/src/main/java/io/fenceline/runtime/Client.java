package io.fenceline.runtime;

import io.fenceline.Acquirable;
import io.fenceline.FencedLock;
import io.fenceline.FencedReadWriteLock;
import io.fenceline.FencedSemaphore;
import io.fenceline.Fenceline;
import io.fenceline.LockOptions;
import io.fenceline.MultiHold;
import io.fenceline.diagnosis.Finding;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.diagnosis.Guarantees;
import io.fenceline.diagnosis.LockReport;
import io.fenceline.event.LossReason;
import io.fenceline.metrics.ObserverFactory;
import io.fenceline.runtime.machine.SecureNumbers;
import io.fenceline.runtime.machine.SystemTime;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.LockNames;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.NameState;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.StoreFactory;
import io.fenceline.spi.TokenFormat;
import io.fenceline.time.Time;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A client of one store: checks what it is given, and hands out locks on the engine below it. */
final class Client implements Fenceline {
  private static final Logger LOG = LoggerFactory.getLogger(Client.class);

  private final Engine engine;
  private final ClaimQueues queues;
  private final ThreadOwners owners;
  private final boolean ownsTime;

  private Client(Engine engine, boolean ownsTime) {
    this.engine = engine;
    this.ownsTime = ownsTime;
    this.queues = engine.queues;
    this.owners = new ThreadOwners();
  }

  /** Opens the store and checks what it guarantees. */
  static Client connect(StoreFactory factory, ClientSettings settings) {
    Time given = settings.time();
    Time time = given == null ? SystemTime.with(settings.executor()) : given;
    RandomGenerator random =
        settings.random() == null ? new SecureNumbers(time) : settings.random();
    ClientInfo info = info(settings.label());
    LockStore store = null;
    try {
      store =
          factory.open(
              new StoreContext(
                  info, time, random, settings.connectTimeout(), settings.operationTimeout()));
      store.guarantees().require(settings.required());
      warnUnlessDurable(store);
      Engine engine = new Engine(store, time, random, settings, info);
      settings.observers().forEach(engine.watchers::add);
      return new Client(engine, given == null);
    } catch (RuntimeException | Error e) { // Also if the driver is missing, or of a wrong version.
      abandon(store, given == null ? time : null, e);
      throw e;
    }
  }

  private static void abandon(@Nullable LockStore store, @Nullable Time own, Throwable why) {
    try {
      new RunAll()
          .then(store == null ? () -> {} : store::close)
          .then(own == null ? () -> {} : own::close)
          .run();
    } catch (Throwable e) {
      why.addSuppressed(e);
    }
  }

  /** Warns once per client: after a crash, when locks were forgotten, it would be too late. */
  private static void warnUnlessDurable(LockStore store) {
    Guarantees guarantees = store.guarantees();
    switch (guarantees.durable()) {
      case YES -> {}
      case NO ->
          LOG.warn(
              "Store {} may forget locks that are held: {}. Another process may then hold them, too;"
                  + " writes need a fence. To refuse such a store, require DURABLE.",
              store.description(),
              guarantees.onCrash());
      case UNKNOWN ->
          LOG.warn(
              "It could not be found out whether store {} forgets held locks in a crash: {}."
                  + " To refuse such a store, require DURABLE.",
              store.description(),
              guarantees.onCrash());
    }
  }

  private static ClientInfo info(@Nullable String label) {
    long pid = ProcessHandle.current().pid();
    String host = HostName.get();
    return new ClientInfo(label == null ? host + ":" + pid : label, host, pid);
  }

  // Locks. --------------------------------------------------------------------------------------

  @Override
  public FencedLock lock(String name) {
    return lock(name, engine.settings.options());
  }

  @Override
  public NamedLock lock(String name, LockOptions options) {
    check(name, options, Set.of());
    return new NamedLock(engine, name, Mode.EXCLUSIVE, options, owners);
  }

  @Override
  public FencedReadWriteLock readWriteLock(String name) {
    return readWriteLock(name, engine.settings.options());
  }

  @Override
  public FencedReadWriteLock readWriteLock(String name, LockOptions options) {
    check(name, options, EnumSet.of(Guarantee.SHARED_MODE));
    return new ReadWriteLocks(
        lock(name, options), new NamedLock(engine, name, Mode.SHARED, options, owners));
  }

  @Override
  public FencedSemaphore semaphore(String name, int permits) {
    return semaphore(name, permits, engine.settings.options());
  }

  @Override
  public FencedSemaphore semaphore(String name, int permits, LockOptions options) {
    check(name, options, EnumSet.of(Guarantee.PERMITS));
    if (permits < 1) {
      throw new InvalidSettingException("permits", permits, "a semaphore has at least 1");
    }
    return new PermitLock(engine, name, 1, permits, options);
  }

  @Override
  public Acquirable<MultiHold> lockAll(String... names) {
    Objects.requireNonNull(names, "names");
    return lockAll(Arrays.asList(names), engine.settings.options());
  }

  @Override
  public Acquirable<MultiHold> lockAll(List<String> names, LockOptions options) {
    Objects.requireNonNull(options, "options");
    if (names.isEmpty()) {
      throw new InvalidSettingException("names", "none", "name at least one lock");
    }
    names.forEach(LockNames::check);
    List<NamedLock> locks = new ArrayList<>();
    for (String name : MultiLock.inOrder(names)) {
      locks.add(lock(name, options));
    }
    return new MultiLock(engine, locks, options);
  }

  private void check(String name, LockOptions options, Set<Guarantee> required) {
    engine.checkOpen();
    LockNames.check(name);
    Objects.requireNonNull(options, "options");
    engine.store.checkLease(options.lease(), options.lockDelay());
    engine.store.guarantees().require(required);
    if (!options.keepAtLeast().isZero()) {
      engine.store.guarantees().require(EnumSet.of(Guarantee.KEEP_AT_LEAST));
    }
  }

  // Inspection. ---------------------------------------------------------------------------------

  @Override
  public LockReport inspect(String name) {
    return Futures.await(engine.time, inspected(name));
  }

  @Override
  public List<LockReport> list(String prefix, int limit) {
    return Futures.await(engine.time, listed(prefix, limit));
  }

  @Override
  public boolean forceRelease(String name, long token) {
    return Futures.await(engine.time, forced(name, token));
  }

  @Override
  public CompletableFuture<LockReport> inspectAsync(String name) {
    return engine.forUser(inspected(name));
  }

  private CompletableFuture<LockReport> inspected(String name) {
    engine.checkOpen();
    LockNames.check(name);
    return bounded(() -> engine.store.inspect(name), "The inspection").thenApply(this::report);
  }

  @Override
  public CompletableFuture<List<LockReport>> listAsync(String prefix, int limit) {
    return engine.forUser(listed(prefix, limit));
  }

  private CompletableFuture<List<LockReport>> listed(String prefix, int limit) {
    engine.checkOpen();
    LockNames.checkPrefix(prefix);
    if (limit < 1) {
      throw new InvalidSettingException("limit", limit, "it must be at least 1");
    }
    return bounded(() -> engine.store.list(prefix, limit), "The listing")
        .thenApply(states -> states.stream().map(this::report).toList());
  }

  @Override
  public CompletableFuture<Boolean> forceReleaseAsync(String name, long token) {
    return engine.forUser(forced(name, token));
  }

  private CompletableFuture<Boolean> forced(String name, long token) {
    engine.checkOpen();
    LockNames.check(name);
    long number = TokenFormat.grantNumber(token) - engine.settings.tokenBase();
    if (number < 1) {
      throw new InvalidSettingException(
          "token",
          token,
          "it is too small to be a token of this store with this client's tokenBase");
    }
    return bounded(() -> engine.store.forceRelease(name, number), "The forced release");
  }

  @Override
  public List<Finding> diagnose() {
    return Futures.await(engine.time, diagnosed());
  }

  @Override
  public CompletableFuture<List<Finding>> diagnoseAsync() {
    return engine.forUser(diagnosed());
  }

  private CompletableFuture<List<Finding>> diagnosed() {
    engine.checkOpen();
    return bounded(() -> engine.store.diagnose(), "The diagnosis");
  }

  private <T> CompletableFuture<T> bounded(Supplier<CompletableFuture<T>> request, String what) {
    CompletableFuture<T> answer;
    try {
      answer = request.get();
    } catch (Throwable e) { // The asynchronous calls report it in their future.
      answer = CompletableFuture.failedFuture(e);
    }
    return engine.answered(answer, what + " was not answered");
  }

  private LockReport report(NameState state) {
    return new LockReport(
        state.name(),
        state.holders().stream()
            .map(
                holder ->
                    new LockReport.Holder(
                        holder.id(),
                        holder.client().label(),
                        holder.client().host(),
                        holder.client().pid(),
                        holder.mode().toString(),
                        TokenFormat.of(
                            engine.settings.tokenNumber(state.name(), holder.number()), 0),
                        holder.since(),
                        holder.remaining()))
            .toList(),
        state.waiters().stream()
            .map(
                waiter ->
                    new LockReport.Waiter(
                        waiter.id(),
                        waiter.client().label(),
                        waiter.client().host(),
                        waiter.client().pid(),
                        waiter.mode().toString(),
                        waiter.since()))
            .toList());
  }

  @Override
  public void observe(ObserverFactory observer) {
    engine.checkOpen();
    engine.watchers.add(Objects.requireNonNull(observer, "observer"));
  }

  @Override
  public Guarantees guarantees() {
    return engine.store.guarantees();
  }

  @Override
  public String store() {
    return engine.store.description();
  }

  // The end. ------------------------------------------------------------------------------------

  @Override
  public Time time() {
    return engine.time;
  }

  @Override
  public void close() {
    if (!engine.markClosed()) {
      return;
    }
    new RunAll()
        .then(queues::close)
        .then(this::loseAll)
        .then(this::awaitReleases)
        .then(engine.unknownOutcomes::stop)
        .then(engine::failOpen)
        .then(engine.store::close)
        .then(engine.watchers::closed)
        .then(ownsTime ? engine.time::close : () -> {})
        .run();
  }

  private void loseAll() {
    RunAll steps = new RunAll();
    for (GrantLifecycle lifecycle : engine.renewer.clientGrants()) {
      steps.then(() -> lifecycle.lose(LossReason.CLIENT_CLOSED));
    }
    steps.run();
  }

  private void awaitReleases() {
    CompletableFuture<Void> undone =
        engine.answered(engine.unknownOutcomes.whenEmpty(), "The releases were not answered");
    Futures.await(engine.time, undone.exceptionally(failure -> null));
  }

  @Override
  public String toString() {
    return "Fenceline(" + engine.store.description() + ", label=" + engine.info.label() + ")";
  }

  /** How many names this client holds or wants; for tests that look for leaks. */
  int names() {
    return queues.size();
  }

  /** Likewise, the grants that are renewed or waited out. */
  int clientGrants() {
    return engine.renewer.clientGrants().size();
  }

  /** Likewise, how many undos are pending. */
  int undos() {
    return engine.unknownOutcomes.size();
  }

  /** Likewise, the holds. */
  int holds() {
    return queues.holds();
  }
}
