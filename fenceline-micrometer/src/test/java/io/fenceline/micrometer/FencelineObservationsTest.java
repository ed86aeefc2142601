package io.fenceline.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.memory.MemorySpace;
import io.fenceline.testkit.ManualTime;
import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Acquiring and holding are observations, where the lock is asked for. */
class FencelineObservationsTest {
  private final ManualTime time = new ManualTime();
  private final MemorySpace space = MemorySpace.create(time::wallMillis);
  private final List<String> told = new ArrayList<>();
  private final List<Observation.Context> stopped = new ArrayList<>();
  private final ObservationRegistry registry = ObservationRegistry.create();

  FencelineObservationsTest() {
    registry
        .observationConfig()
        .observationHandler(
            new ObservationHandler<Observation.Context>() {
              @Override
              public void onStart(Observation.Context context) {
                told.add("start " + context.getName());
              }

              @Override
              public void onEvent(Observation.Event event, Observation.Context context) {
                told.add(event.getName() + " on " + context.getName());
              }

              @Override
              public void onError(Observation.Context context) {
                told.add("error on " + context.getName());
              }

              @Override
              public void onStop(Observation.Context context) {
                told.add("stop " + context.getName());
                stopped.add(context);
              }

              @Override
              public boolean supportsContext(Observation.Context context) {
                return true;
              }
            });
  }

  private Fenceline client(ObservationRegistry with) {
    return Fenceline.builder()
        .store(space.factory())
        .time(time)
        .observer(FencelineObservations.of(with, LockGroups.of()))
        .connect();
  }

  private static KeyValues low(String outcome) {
    return KeyValues.of("store", "memory", "lock.group", "orders", "outcome", outcome);
  }

  @Test
  void acquireAndHold_areChildrenOfWhatIsObserved_withTheirKeys() {
    try (Fenceline fenceline = client(registry)) {
      Observation request = Observation.start("request", registry);
      Hold hold;
      try (Observation.Scope scope = request.openScope()) {
        hold = fenceline.lock("orders:17").tryAcquire().orElseThrow();
      }
      hold.release();
      request.stop();

      assertThat(told)
          .containsExactly(
              "start request",
              "start fenceline.acquire",
              "stop fenceline.acquire",
              "start fenceline.hold",
              "stop fenceline.hold",
              "stop request");
      Observation.Context acquire = stopped.get(0);
      Observation.Context holding = stopped.get(1);
      assertThat(acquire.getParentObservation()).isSameAs(request);
      assertThat(holding.getParentObservation()).isSameAs(request);
      assertThat(acquire.getContextualName()).isEqualTo("acquire orders");
      assertThat(acquire.getLowCardinalityKeyValues()).isEqualTo(low("granted"));
      assertThat(holding.getLowCardinalityKeyValues()).isEqualTo(low("released"));
      for (Observation.Context each : List.of(acquire, holding)) {
        assertThat(each.getHighCardinalityKeyValues())
            .containsExactlyInAnyOrder(
                KeyValue.of("lock.name", "orders:17"),
                KeyValue.of("lock.token", Long.toString(hold.token())),
                KeyValue.of("hold.id", hold.id()));
      }
    }
  }

  @Test
  void refusalTimeoutAndLoss_areSeen() {
    try (Fenceline fenceline = client(registry);
        Fenceline other = Fenceline.builder().store(space.factory()).time(time).connect()) {
      Hold theirs = other.lock("orders:17").tryAcquire().orElseThrow();
      assertThat(fenceline.lock("orders:17").tryAcquire()).isEmpty();
      CompletableFuture<Hold> late =
          fenceline.lock("orders:17").acquireAsync(Duration.ofSeconds(1));
      time.advance(Duration.ofSeconds(1));
      assertThat(late).isCompletedExceptionally();
      theirs.release();
      Hold ours = fenceline.lock("orders:17").tryAcquire().orElseThrow();
      other.forceRelease("orders:17", ours.token());
      time.advance(Duration.ofSeconds(11));

      assertThat(told)
          .containsExactly(
              "start fenceline.acquire",
              "refused on fenceline.acquire",
              "stop fenceline.acquire",
              "start fenceline.acquire",
              "contended on fenceline.acquire",
              "error on fenceline.acquire",
              "stop fenceline.acquire",
              "start fenceline.acquire",
              "stop fenceline.acquire",
              "start fenceline.hold",
              "lost.gone on fenceline.hold",
              "stop fenceline.hold");
    }
  }

  @Test
  void withMetersOfObservations_nothingIsCountedTwice() {
    MeterRegistry meters = new SimpleMeterRegistry();
    meters.config().meterFilter(FencelineMetrics.buckets());
    registry.observationConfig().observationHandler(new DefaultMeterObservationHandler(meters));
    try (Fenceline fenceline = client(registry)) {
      FencelineMetrics.bind(fenceline, meters);
      Hold hold = fenceline.lock("orders:17").tryAcquire().orElseThrow();
      assertThat(meters.get("fenceline.hold.active").longTaskTimers()).hasSize(1);
      assertThat(meters.get("fenceline.hold.active").longTaskTimer().activeTasks()).isEqualTo(1);
      hold.release();
      assertThat(meters.get("fenceline.acquire").tag("outcome", "granted").timers()).hasSize(1);
      assertThat(meters.get("fenceline.hold").tag("outcome", "released").timer().count())
          .isEqualTo(1);
    }
  }

  @Test
  void registryThatObservesNothing_costsNothing() {
    try (Fenceline fenceline = client(ObservationRegistry.NOOP)) {
      fenceline.lock("orders:17").tryAcquire().orElseThrow().release();
    }
    assertThat(told).isEmpty();
  }
}
