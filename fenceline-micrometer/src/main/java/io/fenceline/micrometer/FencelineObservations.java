package io.fenceline.micrometer;

import io.fenceline.Fenceline;
import io.fenceline.event.Leaked;
import io.fenceline.event.Lost;
import io.fenceline.metrics.AcquireOutcome;
import io.fenceline.metrics.HoldFacts;
import io.fenceline.metrics.HoldOutcome;
import io.fenceline.metrics.LockObserver;
import io.fenceline.metrics.ObserverFactory;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Traces of locks: acquiring ({@code fenceline.acquire}) and holding ({@code fenceline.hold}) are
 * observations.
 *
 * <pre>{@code
 * FencelineObservations.bind(fenceline, observationRegistry);
 * }</pre>
 *
 * <p>Both are children of what is observed where the lock is asked for. Their low-cardinality keys
 * are {@code store}, {@code lock.group} and {@code outcome}; {@code lock.name}, {@code lock.token}
 * and {@code hold.id} are of high cardinality. Waiting, refusal, loss and leak are events on them.
 * Handlers are called inline, as {@link LockObserver} says; one that blocks makes locks wait.
 *
 * <p>A registry with a handler that makes meters of observations gets meters of the same names as
 * those of {@link FencelineMetrics}; who binds both uses {@link FencelineMetrics#buckets()}, which
 * keeps them out.
 */
public final class FencelineObservations implements ObserverFactory {
  private final ObservationRegistry registry;
  private final LockGroups groups;

  private FencelineObservations(ObservationRegistry registry, LockGroups groups) {
    this.registry = Objects.requireNonNull(registry, "registry");
    this.groups = Objects.requireNonNull(groups, "groups");
  }

  /** Observes the locks of a client, from the next acquire on. */
  public static void bind(Fenceline fenceline, ObservationRegistry registry) {
    fenceline.observe(of(registry, LockGroups.of()));
  }

  /** Observations in a registry, for {@link io.fenceline.FencelineBuilder#observer}. */
  public static FencelineObservations of(ObservationRegistry registry, LockGroups groups) {
    return new FencelineObservations(registry, groups);
  }

  /** Called by a client that this is given to. */
  @Override
  public LockObserver observe(String storeKind) {
    return new Observer(storeKind);
  }

  /** An acquire, then its hold. */
  private static final class Cycle {
    final String name;
    final @Nullable Observation parent;
    Observation current;

    Cycle(String name, @Nullable Observation parent, Observation current) {
      this.name = name;
      this.parent = parent;
      this.current = current;
    }
  }

  private final class Observer implements LockObserver {
    private final String storeKind;

    Observer(String storeKind) {
      this.storeKind = storeKind;
    }

    @Override
    public @Nullable Object acquireStarted(String name) {
      if (registry.isNoop()) {
        return null;
      }
      Observation acquire =
          Observation.createNotStarted("fenceline.acquire", registry)
              .contextualName("acquire " + groups.groupOf(name))
              .highCardinalityKeyValue("lock.name", name);
      return new Cycle(name, registry.getCurrentObservation(), acquire.start());
    }

    @Override
    public void contended(@Nullable Object context) {
      if (context instanceof Cycle cycle) {
        cycle.current.event(Observation.Event.of("contended", "the lock is held, and waited for"));
      }
    }

    @Override
    public void acquired(
        @Nullable Object context, AcquireOutcome outcome, HoldFacts hold, long waitedNanos) {
      if (context instanceof Cycle cycle) {
        identify(cycle.current, hold);
        stop(cycle, outcome.tag());
        Observation holding =
            Observation.createNotStarted("fenceline.hold", registry)
                .contextualName("hold " + groups.groupOf(cycle.name))
                .highCardinalityKeyValue("lock.name", cycle.name);
        if (cycle.parent != null) {
          holding.parentObservation(cycle.parent);
        }
        identify(holding, hold);
        cycle.current = holding.start();
      }
    }

    private void identify(Observation observation, HoldFacts hold) {
      if (!observation.isNoop()) {
        observation
            .highCardinalityKeyValue("lock.token", Long.toString(hold.token()))
            .highCardinalityKeyValue("hold.id", hold.id());
      }
    }

    @Override
    public void notAcquired(
        @Nullable Object context,
        AcquireOutcome outcome,
        long waitedNanos,
        @Nullable Throwable cause) {
      if (context instanceof Cycle cycle) {
        if (outcome == AcquireOutcome.REFUSED) {
          cycle.current.event(Observation.Event.of("refused", "the lock is held"));
        } else if (cause != null) {
          cycle.current.error(cause);
        }
        stop(cycle, outcome.tag());
      }
    }

    @Override
    public void leaked(@Nullable Object context, Leaked event) {
      if (context instanceof Cycle cycle) {
        cycle.current.event(Observation.Event.of("leaked", event.cause().meaning()));
      }
    }

    @Override
    public void lost(@Nullable Object context, Lost event) {
      if (context instanceof Cycle cycle) {
        String reason = event.reason().name().toLowerCase(Locale.ROOT);
        cycle.current.event(Observation.Event.of("lost." + reason, event.reason().meaning()));
      }
    }

    @Override
    public void holdEnded(@Nullable Object context, HoldOutcome outcome, long heldNanos) {
      if (context instanceof Cycle cycle) {
        stop(cycle, outcome.tag());
      }
    }

    /** With all low-cardinality keys, so that whatever is made of it has the same keys. */
    private void stop(Cycle cycle, String outcome) {
      cycle
          .current
          .lowCardinalityKeyValue("store", storeKind)
          .lowCardinalityKeyValue("lock.group", groups.groupOf(cycle.name))
          .lowCardinalityKeyValue("outcome", outcome)
          .stop();
    }
  }
}
