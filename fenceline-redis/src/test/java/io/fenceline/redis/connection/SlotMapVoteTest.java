package io.fenceline.redis.connection;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which of several maps of a Cluster counts. */
class SlotMapVoteTest {

  /** The answer of a node that knows of one master. */
  private static SlotMap map(String id, int port) {
    List<Object> master =
        List.of("127.0.0.1".getBytes(US_ASCII), (long) port, id.getBytes(US_ASCII));
    return SlotMap.parse(List.of(List.of(0L, 16383L, master)), "127.0.0.1");
  }

  @Test
  void masterThatIsCutOff_isOutvoted_whoeverAnswersFirst() {
    SlotMap stale = map("old", 7000);
    List<SlotMap> maps = new ArrayList<>(List.of(stale, map("new", 7001), map("new", 7001)));
    for (int i = 0; i < maps.size(); i++) {
      Collections.rotate(maps, 1);
      assertThat(SlotMapVote.mostSaid(maps).ownerOf(0).port()).isEqualTo(7001);
    }
  }

  @Test
  void sameMastersAtOtherAddresses_areTheSame() {
    assertThat(map("one", 7000).hasSameMasters(map("one", 7001))).isTrue();
    assertThat(map("one", 7000).hasSameMasters(map("two", 7000))).isFalse();
  }
}
