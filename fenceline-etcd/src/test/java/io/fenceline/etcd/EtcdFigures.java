package io.fenceline.etcd;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Grant;
import io.fenceline.spi.HeldGrant;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Owner;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testbed.server.EtcdServer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * What an etcd server costs over time, in milliseconds; run by hand, since a busy machine says
 * nothing about it. {@code cycles 50000} takes and releases one name so often, without compaction;
 * {@code waiters 1 100 1000} hands one name over with so many claims in its queue.
 */
final class EtcdFigures {
  private static final Duration AMPLE = Duration.ofMinutes(10);
  private static final int PART = 1_000;
  private static final int HAND_OVERS = 50;

  private EtcdFigures() {}

  public static void main(String[] arguments) throws Exception {
    try (EtcdServer etcd = EtcdServer.start()) {
      if (arguments[0].equals("cycles")) {
        cycles(etcd, Integer.parseInt(arguments[1]));
      } else {
        for (String count : Arrays.asList(arguments).subList(1, arguments.length)) {
          waiters(etcd, Integer.parseInt(count));
        }
      }
    }
  }

  private static void cycles(EtcdServer etcd, int count) throws InterruptedException {
    try (Fenceline client = Fenceline.connect("etcd://" + etcd.address())) {
      for (int i = 0; i < PART; i++) { // until the code is compiled
        cycle(client, "warm");
      }
      for (int done = 0; done < count; done += PART) {
        double[] millis = new double[PART];
        for (int i = 0; i < PART; i++) {
          millis[i] = cycle(client, "cycled");
        }
        print("cycles " + done + " to " + (done + PART), millis);
      }
      compare(client, count);
    }
  }

  /** Against a server that has seen nothing yet, in turn, so that both have the same machine. */
  private static void compare(Fenceline old, int count) throws InterruptedException {
    try (EtcdServer etcd = EtcdServer.start();
        Fenceline fresh = Fenceline.connect("etcd://" + etcd.address())) {
      double[] first = new double[PART];
      double[] last = new double[PART];
      for (int i = 0; i < PART; i++) {
        first[i] = cycle(fresh, "cycled");
        last[i] = cycle(old, "cycled");
      }
      print("in turn, the first " + PART + " of a new server", first);
      print("in turn, " + PART + " after " + count, last);
    }
  }

  private static double cycle(Fenceline client, String name) throws InterruptedException {
    long start = System.nanoTime();
    try (Hold hold = client.lock(name).acquire(AMPLE)) {
      hold.release();
    }
    return (System.nanoTime() - start) / 1e6;
  }

  private static void print(String what, double[] millis) {
    Arrays.sort(millis);
    System.out.printf(
        Locale.ROOT,
        "%s: median %.3f ms, mean %.3f ms, p99 %.3f ms%n",
        what,
        millis[millis.length / 2],
        Arrays.stream(millis).average().orElse(0),
        millis[millis.length * 99 / 100]);
  }

  /** A claim at the store itself: the queue of a client would hide it. */
  private static final class Asked implements ClaimHandler {
    final ClaimRequest request;
    final CompletableFuture<Grant> grant = new CompletableFuture<>();
    final CompletableFuture<Obstacle> queued = new CompletableFuture<>();

    Asked(String name) {
      request =
          new ClaimRequest(
              name,
              Owner.draw(new SecureRandom()),
              Mode.EXCLUSIVE,
              Duration.ofMinutes(5),
              Duration.ZERO,
              true);
    }

    @Override
    public void granted(Grant given) {
      grant.complete(given);
    }

    @Override
    public void waiting(Obstacle obstacle) {
      queued.complete(obstacle);
    }

    @Override
    public void refused(Obstacle obstacle) {
      failed(new IllegalStateException("refused"));
    }

    @Override
    public void failed(RuntimeException cause) {
      grant.completeExceptionally(cause);
      queued.completeExceptionally(cause);
    }
  }

  private static void waiters(EtcdServer etcd, int count) throws Exception {
    LockStore[] opened = new LockStore[1];
    try (Fenceline client =
        Fenceline.builder()
            .store(
                (StoreFactory)
                    context -> {
                      opened[0] =
                          new EtcdProvider()
                              .at(StoreAddress.parse("etcd://" + etcd.address()))
                              .open(context);
                      return opened[0];
                    })
            .connect()) {
      System.out.println(client.store());
      LockStore store = opened[0];
      String name = "waited-" + count;
      Asked holder = new Asked(name);
      store.claim(holder.request, holder);
      holder.grant.get(60, TimeUnit.SECONDS);
      Deque<Asked> queue = new ArrayDeque<>();
      double[] joined = new double[count];
      for (int i = 0; i < count; i++) {
        long start = System.nanoTime();
        queue.add(join(store, name));
        joined[i] = (System.nanoTime() - start) / 1e6;
      }
      double[] millis = new double[HAND_OVERS];
      for (int i = 0; i < HAND_OVERS; i++) {
        Asked next = queue.remove();
        long number = holder.grant.get(60, TimeUnit.SECONDS).number();
        long start = System.nanoTime();
        store.release(new ReleaseRequest(new HeldGrant(holder.request, number), Duration.ZERO));
        Grant given = next.grant.get(60, TimeUnit.SECONDS);
        millis[i] = (System.nanoTime() - start) / 1e6;
        if (given.number() <= number) {
          throw new AssertionError("the number went back");
        }
        holder = next;
        queue.add(join(store, name));
      }
      print("hand-over with " + count + " waiters", millis);
      print("joining a queue of up to " + count, joined);
    }
  }

  private static Asked join(LockStore store, String name) throws Exception {
    Asked asked = new Asked(name);
    store.claim(asked.request, asked);
    asked.queued.get(60, TimeUnit.SECONDS);
    return asked;
  }
}
