package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.settings.HandOff;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A recording has what it asks for, and nothing that it does not. */
class FlightTest {
  @TempDir Path folder;

  private List<RecordedEvent> recorded(boolean enabled) throws Exception {
    Path file = folder.resolve("recording.jfr");
    try (Recording recording = new Recording()) {
      if (enabled) {
        for (String event : List.of("Acquire", "Hold", "Lost", "StoreRequest")) {
          recording.enable("io.fenceline." + event);
        }
      }
      recording.start();
      cycle();
      recording.stop();
      recording.dump(file);
    }
    return RecordingFile.readAllEvents(file).stream()
        .filter(event -> event.getEventType().getName().startsWith("io.fenceline."))
        .toList();
  }

  private static void cycle() throws Exception {
    // A hand-off that a busy machine can't be too late for.
    try (Fenceline fenceline =
        Fenceline.builder()
            .store("memory:flight")
            .handOff(new HandOff(1, Duration.ofMinutes(1)))
            .connect()) {
      Hold first = fenceline.lock("orders:1").tryAcquire().orElseThrow();
      CompletableFuture<Void> waiting =
          CompletableFuture.runAsync(
              () -> {
                try (Hold second = fenceline.lock("orders:1").acquire(Duration.ofSeconds(30))) {
                  fenceline.forceRelease("orders:1", second.token());
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
              },
              task -> new Thread(task, "the-waiter").start());
      io.fenceline.testkit.Eventually.until(
          Duration.ofSeconds(30), "a waiter", () -> ((Client) fenceline).holds() == 2);
      first.release();
      waiting.join();
    }
  }

  private static RecordedEvent one(
      List<RecordedEvent> events, String type, String field, String value) {
    List<RecordedEvent> found =
        events.stream()
            .filter(event -> event.getEventType().getName().equals("io.fenceline." + type))
            .filter(event -> value.equals(event.getString(field)))
            .toList();
    assertThat(found).as("%s with %s=%s in %s", type, field, value, events).hasSize(1);
    return found.get(0);
  }

  @Test
  void recordingThatAsks_saysWhichThreadWaitedForWhichLock() throws Exception {
    List<RecordedEvent> events = recorded(true);

    RecordedEvent granted = one(events, "Acquire", "outcome", "granted");
    assertThat(granted.getString("lock")).isEqualTo("orders:1");
    assertThat(granted.getBoolean("contended")).isFalse();
    RecordedEvent handedOff = one(events, "Acquire", "outcome", "handed_off");
    assertThat(handedOff.getBoolean("contended")).isTrue();
    assertThat(handedOff.getThread().getJavaName()).isEqualTo("the-waiter");
    assertThat(handedOff.getThread("caller").getJavaName()).isEqualTo("the-waiter");
    assertThat(handedOff.getLong("token")).isGreaterThan(granted.getLong("token"));
    one(events, "Hold", "outcome", "released");
    one(events, "Hold", "outcome", "lost");
    assertThat(one(events, "Lost", "reason", "GONE").getLong("token"))
        .isEqualTo(handedOff.getLong("token"));
    assertThat(one(events, "StoreRequest", "operation", "claim").getString("outcome"))
        .isEqualTo("answered");
    one(events, "StoreRequest", "operation", "release");
  }

  @Test
  void recordingThatDoesNotAsk_hasNone() throws Exception {
    assertThat(recorded(false)).isEmpty();
  }
}
