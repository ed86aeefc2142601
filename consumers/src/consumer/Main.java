package consumer;

import io.fenceline.Fenceline;
import io.fenceline.FencedLock;
import io.fenceline.FencingToken;
import io.fenceline.Hold;
import io.fenceline.ReleaseOutcome;
import io.fenceline.StaleTokenException;
import java.time.Duration;

/**
 * Uses Fenceline as a program in somebody else's build does: for each argument {@code kind=uri},
 * connects, takes a lock, writes through the store's fence, releases, takes the lock again, and sees
 * a write with the first token refused.
 */
public final class Main {
  /** A resource that checks tokens, on a client of the program's own. */
  interface Guarded extends AutoCloseable {
    void write(FencingToken token) throws Exception;
  }

  private Main() {}

  public static void main(String[] args) throws Exception {
    for (String arg : args) {
      int split = arg.indexOf('=');
      use(arg.substring(0, split), arg.substring(split + 1));
    }
  }

  private static void use(String kind, String uri) throws Exception {
    try (Fenceline fenceline = Fenceline.builder().store(uri).connectTimeout(PATIENCE).connect();
        Guarded guarded = guarded(kind, uri)) {
      FencedLock lock = fenceline.lock("consumer-" + ProcessHandle.current().pid());
      FencingToken first = writeOnce(lock, guarded);
      FencingToken second = writeOnce(lock, guarded);
      require(second.value() > first.value(), "tokens rise");
      try {
        guarded.write(first);
        throw new IllegalStateException("a stale token was accepted by " + kind);
      } catch (StaleTokenException expected) {
        System.out.println("ok " + kind);
      }
    }
  }

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private static FencingToken writeOnce(FencedLock lock, Guarded guarded) throws Exception {
    Hold hold = lock.acquire(PATIENCE);
    require(hold.isValid(), "a new hold is valid");
    guarded.write(hold.fencingToken());
    require(hold.release() == ReleaseOutcome.RELEASED, "a hold is released");
    return hold.fencingToken();
  }

  private static void require(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException("not so: " + what);
    }
  }

  /** By name, since a program has only the stores that its build has. */
  private static Guarded guarded(String kind, String uri) throws Exception {
    String type =
        switch (kind) {
          case "redis", "redlock" -> "Redis";
          case "zookeeper" -> "ZooKeeper";
          case "etcd" -> "Etcd";
          case "memory" -> "Memory";
          default -> "Jdbc";
        };
    return (Guarded)
        Class.forName("consumer." + type).getDeclaredConstructor(String.class).newInstance(uri);
  }
}
