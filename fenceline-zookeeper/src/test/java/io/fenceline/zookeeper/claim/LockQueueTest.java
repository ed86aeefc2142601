package io.fenceline.zookeeper.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.spi.Mode;
import io.fenceline.spi.Owner;
import io.fenceline.zookeeper.layout.Layout;
import io.fenceline.zookeeper.layout.QueueNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who is in whose way, and whom to watch. */
class LockQueueTest {

  private static List<QueueNode> line(String... modes) {
    List<String> nodes = new ArrayList<>();
    for (int i = 0; i < modes.length; i++) {
      nodes.add(modes[i] + ".client.tag" + i + ".%010d".formatted(i));
    }
    return LockQueue.parse(nodes);
  }

  private static List<String> watched(Mode mode, String... ahead) {
    return LockQueue.toWatch(mode, line(ahead)).stream().map(QueueNode::tag).toList();
  }

  @Test
  void exclusive_watchesItsPredecessorOnly() {
    assertThat(watched(Mode.EXCLUSIVE, "x", "x", "s")).containsExactly("tag2");
  }

  @Test
  void shared_watchesTheNearestWriterOnly() {
    assertThat(watched(Mode.SHARED, "x", "s", "x", "s", "s")).containsExactly("tag2");
    assertThat(LockQueue.fits(Mode.SHARED, line("s", "s"))).isTrue();
    assertThat(LockQueue.fits(Mode.SHARED, line("s", "x"))).isFalse();
  }

  @Test
  void permits_watchAsManyAsItTakes() {
    // Of three permits, two are left when all but one have gone: the nearest three, or fewer.
    assertThat(watched(Mode.permits(1, 3), "p1-3", "p1-3", "p1-3", "p1-3", "p1-3"))
        .containsExactly("tag4", "tag3", "tag2");
    assertThat(watched(Mode.permits(2, 3), "p1-3", "p1-3")).containsExactly("tag1", "tag0");
    assertThat(watched(Mode.permits(3, 3), "p1-3", "p2-3")).containsExactly("tag1");
    assertThat(watched(Mode.permits(1, 3), "p1-3", "p3-3")).containsExactly("tag1");
  }

  @Test
  void granted_areThoseThatFit_andNobodyOvertakes() {
    assertThat(LockQueue.bySequence(line("s", "s", "x", "s")).granted()).isEqualTo(2);
    assertThat(LockQueue.bySequence(line("x", "x")).granted()).isEqualTo(1);
    assertThat(LockQueue.bySequence(line("p1-3", "p1-3", "p2-3", "p1-3")).granted()).isEqualTo(2);
  }

  @Test
  void placesInALongLine_areFound_andThoseThatLeftAreNot() {
    List<String> nodes = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      nodes.add("x.client.tag%d.%010d".formatted(i, i * 3));
    }
    Collections.shuffle(nodes, new Random(5));
    LockQueue line = LockQueue.bySequence(LockQueue.parse(nodes));
    for (int i = 0; i < 1_000; i++) {
      assertThat(line.aheadOf("x.client.tag%d.%010d".formatted(i, i * 3))).hasSize(i);
    }
    assertThat(line.aheadOf("x.client.tag7.0000000022")).isNull();
    assertThat(line.aheadOf("x.client.other.0000000021")).isNull();
  }

  @Test
  void strangers_areThoseOfAnotherFamily_ahead() {
    LockQueue mixed = LockQueue.bySequence(line("x", "s", "p1-3", "x"));
    List<QueueNode> all = mixed.nodes();
    assertThat(mixed.stranger(Mode.EXCLUSIVE, all.subList(0, 2))).isNull();
    assertThat(mixed.stranger(Mode.SHARED, all)).isEqualTo(all.get(2));
    LockQueue pure = LockQueue.bySequence(line("p1-3", "p2-3"));
    assertThat(pure.stranger(Mode.permits(1, 3), pure.nodes())).isNull();
    assertThat(pure.stranger(Mode.permits(1, 4), pure.nodes())).isEqualTo(pure.nodes().get(0));
    assertThat(pure.stranger(Mode.EXCLUSIVE, List.of())).isNull();
  }

  @Test
  void nearTheEndOfTheSequence_czxidsTellTheOrder() {
    List<QueueNode> places =
        LockQueue.parse(
            List.of("x.c.first.2147483647", "x.c.second.-2147483648", "x.c.third.2147483647"));
    assertThat(LockQueue.areSequencesSound(places)).isFalse();
    LockQueue line =
        LockQueue.byCreation(
            places,
            Map.of(
                "x.c.third.2147483647", 30L,
                "x.c.first.2147483647", 10L,
                "x.c.second.-2147483648", 20L));
    assertThat(line.nodes()).extracting(QueueNode::tag).containsExactly("first", "second", "third");
  }

  @Test
  void otherNodes_areNotInLine() {
    assertThat(
            LockQueue.parse(List.of("readme", "x.c.t.", "q.c.t.0000000001", "p9-3.c.t.0000000001")))
        .isEmpty();
  }

  @Test
  void tag_tellsTheOwnersId_butNotItsSecret() {
    Owner owner = Owner.draw(new java.util.Random(7));
    String tag = QueueNode.tagOf(owner);
    QueueNode place =
        QueueNode.parse(QueueNode.prefix(Mode.SHARED, false, "client", tag) + "0000000003");
    assertThat(place.ownerId()).isEqualTo(owner.id());
    assertThat(place.mode()).isEqualTo(Mode.SHARED);
    assertThat(place.waits()).isFalse();
    assertThat(place.name()).doesNotContain(owner.secret());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"ledger", "a/b", ".", "..", "100%", "%2F", "naïve 锁 🔒", "\uE000x", "zookeeper"})
  void names_areOneComponentEach_andComeBack(String name) {
    String component = Layout.escape(name);
    assertThat(component).doesNotContain("/");
    org.apache.zookeeper.common.PathUtils.validatePath("/" + component);
    assertThat(Layout.unescape(component)).isEqualTo(name);
  }
}
