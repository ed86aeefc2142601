package io.fenceline.runtime.machine;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.testkit.ManualTime;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Bits that nobody can guess, none of which waits in memory for long. */
class SecureNumbersTest {
  private final ManualTime time = new ManualTime();
  private final SecureNumbers numbers = new SecureNumbers(time);

  @Test
  void numbers_differ_withinAndAcrossBlocks() {
    Set<Long> drawn = new HashSet<>();
    for (int i = 0; i < 1_000; i++) {
      drawn.add(numbers.nextLong());
    }

    assertThat(drawn).hasSize(1_000);
  }

  @Test
  void bytesOfAnyLength_areFilled() {
    for (int length : new int[] {0, 3, 16, 1_024, 5_000}) {
      byte[] bytes = new byte[length];
      numbers.nextBytes(bytes);

      assertThat(length < 16 || ByteBuffer.wrap(bytes).getLong() != 0).isTrue();
    }
  }

  /** Two copies of a machine share what is in memory, but not what is drawn later. */
  @Test
  void whatWasFetchedLongAgo_isNotUsed() throws ReflectiveOperationException {
    numbers.nextLong();
    ByteBuffer waiting = waiting();
    long next = waiting.getLong(waiting.position());

    time.advance(Duration.ofMillis(99));
    assertThat(numbers.nextLong()).as("what waits, while it is fresh").isEqualTo(next);

    long stale = waiting.getLong(waiting.position());
    time.advance(Duration.ofMillis(100));
    assertThat(numbers.nextLong()).isNotEqualTo(stale);
  }

  /** Random bytes cost time, most of all in a process that has just started. */
  @Test
  void whoSeldomDraws_fetchesLittle() {
    CountingSource source = new CountingSource();
    SecureNumbers seldom = new SecureNumbers(time, source);
    for (int i = 0; i < 10; i++) {
      time.advance(Duration.ofSeconds(1));
      seldom.nextBytes(new byte[16]);
      seldom.nextLong();
      seldom.nextLong();
    }

    assertThat(source.bytes).isEqualTo(10 * 40);
  }

  @Test
  void whoDrawsOften_fetchesMuchAtOnce() {
    CountingSource source = new CountingSource();
    SecureNumbers often = new SecureNumbers(time, source);
    for (int i = 0; i < 1_000; i++) {
      often.nextBytes(new byte[16]);
    }

    assertThat(source.calls).isLessThan(25);
    assertThat(source.bytes).isBetween(16_000, 17_100);
  }

  private static final class CountingSource extends SecureRandom {
    private static final long serialVersionUID = 1L;

    private int calls;
    private int bytes;

    @Override
    public void nextBytes(byte[] to) {
      calls++;
      bytes += to.length;
      super.nextBytes(to);
    }
  }

  private ByteBuffer waiting() throws ReflectiveOperationException {
    Field block = SecureNumbers.class.getDeclaredField("block");
    block.setAccessible(true);
    return (ByteBuffer) block.get(numbers);
  }
}
