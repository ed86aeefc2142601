package io.fenceline.docs;

import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.fence.MemoryFence;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * What code on a page may use without saying where it comes from: each piece of it becomes the body
 * of a method of a class that extends this one.
 */
public abstract class Given implements AutoCloseable {
  /** Where a writer appends, as long as it was not overtaken. */
  public static final class Ledger {
    private final MemoryFence fence = new MemoryFence();
    public final List<String> entries = new ArrayList<>();

    /** Appends an entry. */
    public synchronized void append(String entry, long token) {
      fence.check("ledger", io.fenceline.FencingToken.exclusive(token));
      entries.add(entry);
    }
  }

  protected final Fenceline fenceline = Fenceline.connect("memory:docs");
  protected final FencedLock lock = fenceline.lock("ledger");
  protected final Hold hold;
  protected final Ledger ledger = new Ledger();
  protected final String entry = "one more line";

  protected Given() throws InterruptedException {
    hold = fenceline.lock("given").acquire(Duration.ofSeconds(5));
  }

  /** The work that a lock is for. */
  protected void work() {}

  /** Ends what the work has begun. */
  protected void stop() {}

  @Override
  public void close() {
    fenceline.close();
  }

  /** The code of the page. */
  public abstract void run() throws Exception;
}
