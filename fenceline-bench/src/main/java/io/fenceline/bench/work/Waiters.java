package io.fenceline.bench.work;

import io.fenceline.StoreUnavailableException;
import io.fenceline.bench.store.Venue;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Grant;
import io.fenceline.spi.HeldGrant;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Owner;
import io.fenceline.spi.ReleaseRequest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What a hand-off at the store costs, by how many claims wait for the name.
 *
 * <p>The claims are placed at the store directly: the client's own queue would send one of them and
 * hide the rest. Each is granted by the release of the one before it; the costs of the queue that
 * its waiters cause meanwhile, such as their asking whether it is their turn, are part of it.
 */
public final class Waiters {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int HAND_OFFS = 200;
  private static final int AT_ONCE = 64;
  private static final long BOUND_SECONDS = 120;
  private static final double LONGEST_SECONDS = 60;

  private Waiters() {}

  /**
   * One point of the curve.
   *
   * @param waiting how many claims wait
   * @param enqueueMicros what it took to enqueue one, mean
   * @param handOffMicros what it took from one release to the next grant, median
   * @param clientMicros CPU time of the client for one hand-off
   * @param serverMicros CPU time of the server for one hand-off
   */
  public record Point(
      int waiting,
      double enqueueMicros,
      double handOffMicros,
      double clientMicros,
      double serverMicros) {}

  /** A claim at the store. */
  private static final class Claim implements ClaimHandler {
    final ClaimRequest request;
    private final LockStore store;
    private final LinkedBlockingQueue<Claim> granted;
    private final Runnable whenPlaced;
    private boolean placed;
    private volatile @Nullable Grant grant;

    Claim(LockStore store, String name, LinkedBlockingQueue<Claim> granted, Runnable whenPlaced) {
      this.store = store;
      this.request =
          new ClaimRequest(name, Owner.draw(RANDOM), Mode.EXCLUSIVE, LEASE, Duration.ZERO, true);
      this.granted = granted;
      this.whenPlaced = whenPlaced;
    }

    private synchronized void place() {
      if (!placed) {
        placed = true;
        whenPlaced.run();
      }
    }

    /** A message and an answer may tell of one grant, as the runtime knows, too. */
    @Override
    public void granted(Grant given) {
      synchronized (this) {
        Grant known = grant;
        if (known != null && known.number() == given.number()) {
          return;
        }
        grant = given;
      }
      place();
      granted.add(this);
    }

    @Override
    public void waiting(Obstacle obstacle) {
      place();
    }

    @Override
    public void refused(Obstacle obstacle) {
      throw new BrokenLockException("a claim that waits was refused");
    }

    /** Not answered in time: asks again, as the runtime does, and keeps its place. */
    @Override
    public void failed(RuntimeException cause) {
      if (grant == null && cause instanceof StoreUnavailableException) {
        CompletableFuture.runAsync(
            () -> store.claim(request, this),
            CompletableFuture.delayedExecutor(100, TimeUnit.MILLISECONDS));
      } else {
        place();
      }
    }

    Grant grant() {
      Grant given = grant;
      if (given == null) {
        throw new IllegalStateException("not granted");
      }
      return given;
    }
  }

  /** Measures all points, through a client of its own. */
  public static List<Point> measure(Venue venue, Effort effort, Progress progress)
      throws Exception {
    progress.begin("waiters");
    try (Stores.Opened opened = Stores.open(venue)) {
      LockStore store = opened.store();
      List<Point> points = new ArrayList<>();
      warmUp(venue, store, effort);
      for (int waiting : effort.waiters()) {
        if (!points.isEmpty() && secondsToEnqueue(points, waiting) > LONGEST_SECONDS) {
          progress.skip("%,d waiters: enqueueing them would take minutes".formatted(waiting));
          break;
        }
        points.add(point(venue, store, "waiters-" + waiting, waiting));
        progress.step();
      }
      progress.end();
      return points;
    }
  }

  /** This process has not been through anything yet: contenders have processes of their own. */
  private static void warmUp(Venue venue, LockStore store, Effort effort) throws Exception {
    long end = System.nanoTime() + effort.settle().millis() * 5_000_000L;
    do {
      point(venue, store, "waiters-warm-up", 100);
    } while (System.nanoTime() < end);
  }

  /** If it goes on growing as it did from the point before. */
  private static double secondsToEnqueue(List<Point> points, int waiting) {
    Point last = points.get(points.size() - 1);
    Point before = points.get(Math.max(0, points.size() - 2));
    double growth = Math.max(1, last.enqueueMicros() / before.enqueueMicros());
    return last.enqueueMicros() / 1e6 * growth * waiting;
  }

  /** Short lines are measured several times: one hand-off alone tells little. */
  private static Point point(Venue venue, LockStore store, String name, int waiting)
      throws Exception {
    Tally tally = new Tally();
    while (tally.handOffs.size() < HAND_OFFS) {
      line(venue, store, name, waiting, tally);
    }
    double[] micros = tally.handOffs.stream().mapToDouble(Double::doubleValue).toArray();
    return new Point(
        waiting,
        tally.enqueueNanos / 1e3 / tally.enqueued,
        Ratio.median(micros),
        tally.clientNanos / 1e3 / micros.length,
        tally.serverNanos / 1e3 / micros.length);
  }

  /** What was seen in lines of one length. */
  private static final class Tally {
    final List<Double> handOffs = new ArrayList<>();
    int enqueued;
    long enqueueNanos;
    long clientNanos;
    long serverNanos;
  }

  private static void line(Venue venue, LockStore store, String name, int waiting, Tally tally)
      throws Exception {
    LinkedBlockingQueue<Claim> granted = new LinkedBlockingQueue<>();
    Claim first = new Claim(store, name, granted, () -> {});
    store.claim(first.request, first);
    Claim holder = next(granted);
    List<Claim> claims = new ArrayList<>();
    long start = System.nanoTime();
    enqueue(store, name, granted, waiting, claims);
    tally.enqueueNanos += System.nanoTime() - start;
    tally.enqueued += waiting;
    if (!granted.isEmpty()) {
      throw new BrokenLockException("two hold " + name);
    }

    int handOffs = Math.min(waiting, HAND_OFFS - tally.handOffs.size());
    long cpu = Crew.clientNanos();
    long serverCpu = venue.cpuNanos();
    for (int i = 0; i < handOffs; i++) {
      long released = System.nanoTime();
      CompletableFuture<?> done = release(store, holder);
      Claim next = next(granted);
      tally.handOffs.add((System.nanoTime() - released) / 1e3);
      check(name, holder, next, granted.peek());
      done.get(BOUND_SECONDS, TimeUnit.SECONDS);
      holder = next;
    }
    tally.clientNanos += Crew.clientNanos() - cpu;
    tally.serverNanos += venue.cpuNanos() - serverCpu;

    clear(store, claims);
    release(store, holder).get(BOUND_SECONDS, TimeUnit.SECONDS);
  }

  private static void check(String name, Claim holder, Claim next, @Nullable Claim third) {
    if (next.grant().number() <= holder.grant().number()) {
      throw new BrokenLockException(
          "%s: grant %d came after %d%s"
              .formatted(
                  name,
                  next.grant().number(),
                  holder.grant().number(),
                  next == holder ? ", to the same claim" : ""));
    }
    if (third != null) {
      throw new BrokenLockException(
          "%s: %d was granted while %d was held%s, %s and %s"
              .formatted(
                  name,
                  third.grant().number(),
                  next.grant().number(),
                  third == next ? ", to the same claim" : "",
                  third.grant().validity(),
                  next.grant().validity()));
    }
  }

  private static void enqueue(
      LockStore store,
      String name,
      LinkedBlockingQueue<Claim> granted,
      int count,
      List<Claim> claims)
      throws InterruptedException {
    Semaphore room = new Semaphore(AT_ONCE);
    for (int i = 0; i < count; i++) {
      Claim claim = new Claim(store, name, granted, room::release);
      claims.add(claim);
      room.acquire();
      store.claim(claim.request, claim);
    }
    room.acquire(AT_ONCE);
  }

  private static Claim next(LinkedBlockingQueue<Claim> granted) throws InterruptedException {
    Claim claim = granted.poll(BOUND_SECONDS, TimeUnit.SECONDS);
    if (claim == null) {
      throw new IllegalStateException("nobody was granted within " + BOUND_SECONDS + " s");
    }
    return claim;
  }

  private static CompletableFuture<?> release(LockStore store, Claim holder) {
    return store.release(
        new ReleaseRequest(new HeldGrant(holder.request, holder.grant().number()), Duration.ZERO));
  }

  /** Withdraws those who still wait, the last ones first, so that nobody is granted by it. */
  private static void clear(LockStore store, List<Claim> claims) throws InterruptedException {
    Semaphore room = new Semaphore(AT_ONCE);
    for (int i = claims.size() - 1; i >= 0; i--) {
      if (claims.get(i).grant == null) {
        room.acquire();
        store.withdraw(claims.get(i).request).whenComplete((done, failure) -> room.release());
      }
    }
    room.acquire(AT_ONCE);
  }
}
