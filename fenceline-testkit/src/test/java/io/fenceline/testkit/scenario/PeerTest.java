package io.fenceline.testkit.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import java.lang.ref.WeakReference;
import org.junit.jupiter.api.Test;

/** What a test takes stays held, also if the test does not keep the hold. */
class PeerTest {

  @Test
  void holdThatATestDoesNotKeep_isNotCollected() {
    try (Fenceline client = Fenceline.connect("memory:peer-test")) {
      Peer peer = new Peer("a", client, null, null);
      WeakReference<Object> dropped = new WeakReference<>(peer.take("dropped"));

      System.gc();

      assertThat(dropped.get()).isNotNull();
      assertThat(peer.tryTake("dropped")).isEmpty();
    }
  }
}
