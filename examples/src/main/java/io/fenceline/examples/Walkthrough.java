package io.fenceline.examples;

import io.fenceline.Fenceline;
import io.fenceline.FencingToken;
import io.fenceline.Hold;
import io.fenceline.LockTimeoutException;
import io.fenceline.StaleTokenException;
import io.fenceline.fence.MemoryFence;
import java.io.PrintStream;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/** How do lock, token and storage play together? Two services, one order. */
public final class Walkthrough {
  private static final int RETRIES = 2;
  private static final Duration RETRY_DELAY = Duration.ofMillis(100);

  private Walkthrough() {}

  /** Storage that accepts a write only with a token that nobody has overtaken. */
  private static final class FencedStorage {
    private final MemoryFence fence = new MemoryFence();
    private final Map<String, String> data = new HashMap<>();

    /** The check and the write are one step: nobody else can come in between. */
    synchronized void write(String key, String value, FencingToken token) {
      fence.check(key, token);
      data.put(key, value);
    }

    synchronized String read(String key) {
      return data.getOrDefault(key, "");
    }
  }

  /** Runs it. */
  public static void main(String[] arguments) throws InterruptedException {
    run(System.out);
  }

  static void run(PrintStream out) throws InterruptedException {
    FencedStorage storage = new FencedStorage();
    try (Fenceline serviceA = Fenceline.connect("memory:walkthrough");
        Fenceline serviceB = Fenceline.connect("memory:walkthrough")) {

      out.println("--- Service A acquires the lock ---");
      try (Hold a = serviceA.lock("order:98765").acquire(RETRY_DELAY)) {
        out.println("A holds order:98765 with token " + a.token());

        out.println("--- Service B tries, and retries twice ---");
        for (int attempt = 0; attempt <= RETRIES; attempt++) {
          try (Hold b = serviceB.lock("order:98765").acquire(RETRY_DELAY)) {
            throw new AssertionError("B must not get it: " + b);
          } catch (LockTimeoutException e) {
            out.println(
                attempt < RETRIES
                    ? "B did not get it; retry " + (attempt + 1) + "/" + RETRIES
                    : "B gives up: held by someone with token " + e.holderToken().orElseThrow());
          }
        }

        out.println("--- Service A writes with its token ---");
        storage.write("status", "paid", a.fencingToken());
        out.println("accepted: status=" + storage.read("status"));

        out.println("--- A write with an older token arrives ---");
        try {
          storage.write("status", "paid twice", FencingToken.exclusive(a.token() - 1));
        } catch (StaleTokenException e) {
          out.println("refused: token " + e.offered() + " is below " + e.accepted());
          out.println("still: status=" + storage.read("status"));
        }

        out.println("--- Service A releases ---");
        out.println("released: " + a.release());

        out.println("--- Service B tries again ---");
        try (Hold b = serviceB.lock("order:98765").acquire(RETRY_DELAY)) {
          out.println("B holds order:98765 with token " + b.token());
          out.println("larger than A's: " + (b.token() > a.token()));
          out.println("valid: " + b.isValid());
        }
      }
    }
  }
}
