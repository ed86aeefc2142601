package io.fenceline.testkit;

import io.fenceline.Fenceline;
import io.fenceline.event.Acquired;
import io.fenceline.event.HandedOff;
import io.fenceline.event.LockListener;
import io.fenceline.event.Lost;
import io.fenceline.event.Released;
import io.fenceline.memory.MemorySpace;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testkit.fault.LossyStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListMap;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives a test locks in memory and a time that it owns.
 *
 * <pre>{@code
 * @ExtendWith(FencelineExtension.class)
 * class NightlyJobTest {
 *   @Test
 *   void runsOnceAtATime(Fenceline fenceline, ManualTime time) {
 *     FencedLock lock = fenceline.lock("nightly");
 *     try (Hold hold = lock.tryAcquire().orElseThrow()) {
 *       time.advance(Duration.ofHours(1));
 *       assertThat(hold.isValid()).isTrue();
 *       assertThat(lock.tryAcquire()).isEmpty();
 *     }
 *   }
 * }
 * }</pre>
 *
 * <p>A test and its {@code @BeforeEach} methods may ask for a {@link Fenceline}, the {@link
 * ManualTime} that it lives by, the {@link MemorySpace} that it is connected to, for a second
 * client of the same names, and the {@link LossyStore} in between, which makes the store
 * unreachable or loses replies. Each test has its own. After the test the client is closed, and a
 * hold that the test has neither released nor lost fails it, with where it was acquired.
 */
public final class FencelineExtension implements ParameterResolver, AfterEachCallback {
  private static final ExtensionContext.Namespace OURS =
      ExtensionContext.Namespace.create(FencelineExtension.class);

  /** Longer than the client waits before it asks a store again that gave no answer. */
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

  /** For {@code @ExtendWith}. */
  public FencelineExtension() {}

  /** What one test has. */
  private static final class Kit {
    final ManualTime time = new ManualTime();
    final MemorySpace space = MemorySpace.create(time::wallMillis);
    final OpenHolds holds = new OpenHolds();
    final LossyStore[] store = new LossyStore[1];
    final Fenceline fenceline;

    @SuppressWarnings("MustBeClosedChecker") // Closed after the test.
    Kit() {
      fenceline =
          Fenceline.builder()
              .store((StoreFactory) context -> store[0] = new LossyStore(space.factory(), context))
              .time(time)
              .label("test")
              .listener(holds)
              .connect();
    }
  }

  /** The holds that have neither been released nor lost, by token. */
  private static final class OpenHolds implements LockListener {
    private final ConcurrentSkipListMap<Long, AssertionError> open = new ConcurrentSkipListMap<>();

    @Override
    public void onAcquired(Acquired event) {
      add(event.name(), event.id(), event.token());
    }

    @Override
    public void onHandedOff(HandedOff event) {
      add(event.name(), event.id(), event.token());
    }

    @Override
    public void onReleased(Released event) {
      open.remove(event.token());
    }

    @Override
    public void onLost(Lost event) {
      open.remove(event.token());
    }

    private void add(String name, String id, long token) {
      // In manual time a listener is called by the thread that acquires: the trace shows where.
      open.put(
          token,
          new AssertionError(
              "Lock '%s' was not released by the test (id=%s, token=%d)"
                  .formatted(name, id, token)));
    }

    List<AssertionError> all() {
      return List.copyOf(open.values());
    }
  }

  private static Kit kit(ExtensionContext context) {
    return context.getStore(OURS).computeIfAbsent(Kit.class, key -> new Kit(), Kit.class);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == Fenceline.class
        || type == ManualTime.class
        || type == MemorySpace.class
        || type == LossyStore.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    Kit kit = kit(context);
    Class<?> type = parameter.getParameter().getType();
    if (type == ManualTime.class) {
      return kit.time;
    }
    if (type == LossyStore.class) {
      return kit.store[0];
    }
    return type == MemorySpace.class ? kit.space : kit.fenceline;
  }

  @Override
  public void afterEach(ExtensionContext context) {
    Kit kit = context.getStore(OURS).remove(Kit.class, Kit.class);
    if (kit == null) {
      return;
    }
    List<AssertionError> leaked = kit.holds.all();
    if (kit.store[0].met() > 0) {
      // What could not be given back while the store was away is given back, after a pause.
      kit.store[0].heal();
      kit.time.advance(LONGEST_PAUSE);
    }
    kit.fenceline.close();
    if (!leaked.isEmpty()) {
      AssertionError first = leaked.get(0);
      leaked.subList(1, leaked.size()).forEach(first::addSuppressed);
      throw first;
    }
  }
}
