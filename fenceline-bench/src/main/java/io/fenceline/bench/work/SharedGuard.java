package io.fenceline.bench.work;

import io.fenceline.bench.contender.Contender;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * As {@link Guarded}, for several processes: a counter in a file that all of them have mapped, with
 * no protection of its own.
 */
final class SharedGuard implements Contender.Section {
  static final int BYTES = 64;

  private static final int COUNT = 0;
  private static final int LAST_TOKEN = 8;
  private static final int INSIDE = 16;
  private static final int LEFT_NANOS = 24;
  private static final int LEFT_BY = 32;

  private final ByteBuffer memory;
  private final long process;
  private final long stayNanos;
  private final Histogram handOffs = new Histogram();

  SharedGuard(Path file, long process) throws IOException {
    this(file, process, 0);
  }

  SharedGuard(Path file, long process, long stayNanos) throws IOException {
    this.stayNanos = stayNanos;
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      this.memory =
          channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES).order(ByteOrder.nativeOrder());
    }
    this.process = process;
  }

  @Override
  public void run(long token) {
    // The clock of the machine, the same for all processes.
    long entered = System.nanoTime();
    long me = process << 32 | Thread.currentThread().getId();
    long other = memory.getLong(INSIDE);
    if (other != 0) {
      throw new BrokenLockException(me + " met " + other + " inside");
    }
    memory.putLong(INSIDE, me);
    long leftBy = memory.getLong(LEFT_BY);
    if (leftBy != 0 && leftBy != process) {
      handOffs.add(entered - memory.getLong(LEFT_NANOS));
    }
    long last = memory.getLong(LAST_TOKEN);
    if (token != 0 && token <= last) {
      throw new BrokenLockException("token " + token + " came after " + last);
    }
    memory.putLong(LAST_TOKEN, token);
    memory.putLong(COUNT, memory.getLong(COUNT) + 1);
    Guarded.stay(stayNanos);
    if (memory.getLong(INSIDE) != me) {
      throw new BrokenLockException(memory.getLong(INSIDE) + " came in while " + me + " was there");
    }
    memory.putLong(LEFT_BY, process);
    memory.putLong(LEFT_NANOS, System.nanoTime());
    memory.putLong(INSIDE, 0);
  }

  /** When the last one left. */
  long leftNanos() {
    return memory.getLong(LEFT_NANOS);
  }

  /** How often someone of any process was inside. */
  long count() {
    return memory.getLong(COUNT);
  }

  /**
   * How long it took from the end inside one process to the beginning inside another; collected
   * under the lock.
   */
  Histogram handOffs() {
    return handOffs;
  }

  /** Starts anew, while nobody is inside. */
  void reset() {
    for (int i = 0; i < BYTES; i += Long.BYTES) {
      memory.putLong(i, 0);
    }
  }
}
