package io.fenceline.redis.claim;

import static io.fenceline.redis.layout.Layout.bytes;

import io.fenceline.redis.connection.Failures;
import io.fenceline.redis.connection.Topology;
import io.fenceline.redis.connection.Topology.Purpose;
import io.fenceline.redis.layout.Answers;
import io.fenceline.redis.layout.Call;
import io.fenceline.redis.layout.Layout;
import io.fenceline.redis.layout.Script;
import io.fenceline.spi.Mode;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.Validity;
import io.fenceline.time.Moment;
import io.fenceline.time.Time;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Renews many holds with few calls: up to a hundred with one, all of one bucket where the servers
 * are a Cluster. All calls are under way at once, so a server that is down delays only its own.
 *
 * <p>A lock that nobody else wants has a head and no other keys, so the first call names heads
 * only: the other keys would be three quarters of what is sent. Those that turn out to need them
 * are asked for again.
 */
public final class Renewals {
  private static final int MOST_AT_ONCE = 128;
  private static final int ALL_KEYS = 4;
  private static final int HEAD_ONLY = 1;
  private static final int NEEDS_ALL_KEYS = 2;

  private final Topology topology;
  private final Time time;
  private final String store;
  private volatile boolean mixes;

  /** One hold to be renewed, and who waits for the answer. */
  private record Job(RenewRequest request, int bucket, CompletableFuture<Renewal> answer) {
    byte[][] keys(int width) {
      String name = request.grant().claim().name();
      return (width == HEAD_ONLY ? Layout.simple(name) : Layout.place(name)).keys();
    }

    boolean isAlone() {
      return request.grant().claim().mode() instanceof Mode.Exclusive;
    }

    byte[] owner() {
      return request.grant().claim().owner().bytes();
    }

    byte[] term() {
      return bytes(request.lease().plus(request.grant().claim().delay()).toMillis());
    }
  }

  /** What can go with one call, up to its length. */
  private record Group(int bucket, int width) {}

  public Renewals(Topology topology, Time time, String store) {
    this.topology = topology;
    this.mixes = topology.mixesBuckets();
    this.time = time;
    this.store = store;
  }

  public List<CompletableFuture<Renewal>> renew(List<RenewRequest> requests) {
    List<CompletableFuture<Renewal>> answers = new ArrayList<>(requests.size());
    Map<Group, List<Job>> groups = new HashMap<>();
    for (RenewRequest request : requests) {
      int bucket = Layout.bucket(bytes(request.grant().claim().name()));
      Job job = new Job(request, bucket, new CompletableFuture<>());
      answers.add(job.answer);
      int width = job.isAlone() ? HEAD_ONLY : ALL_KEYS;
      Group group = new Group(mixes ? 0 : bucket, width);
      groups.computeIfAbsent(group, any -> new ArrayList<>()).add(job);
    }
    groups.forEach((group, jobs) -> send(jobs, group.width, false));
    return answers;
  }

  /** In as many calls as it takes. */
  private void send(List<Job> jobs, int width, boolean last) {
    for (int from = 0; from < jobs.size(); from += MOST_AT_ONCE) {
      call(jobs.subList(from, Math.min(jobs.size(), from + MOST_AT_ONCE)), width, last);
    }
  }

  private void call(List<Job> jobs, int width, boolean last) {
    byte[][] keys = new byte[jobs.size() * width][];
    byte[][] args = new byte[1 + 3 * jobs.size()][];
    args[0] = bytes(width);
    for (int i = 0; i < jobs.size(); i++) {
      Job job = jobs.get(i);
      System.arraycopy(job.keys(width), 0, keys, i * width, width);
      args[1 + 3 * i] = job.owner();
      args[2 + 3 * i] = job.term();
      args[3 + 3 * i] = bytes(job.request.grant().number());
    }
    Moment sent = time.now();
    topology
        .call(Purpose.RENEWALS, jobs.get(0).bucket, new Call(Script.RENEW, keys, args))
        .whenComplete(
            (answer, failure) -> {
              if (failure == null) {
                answered(jobs, answer, sent, last);
              } else {
                failed(jobs, last, failure);
              }
            });
  }

  private void answered(List<Job> jobs, List<Object> answer, Moment sent, boolean last) {
    List<Job> again = new ArrayList<>(0);
    for (int i = 0; i < jobs.size(); i++) {
      Job job = jobs.get(i);
      long fate = Answers.number(answer.get(i));
      if (fate == NEEDS_ALL_KEYS) {
        again.add(job);
      } else if (fate == 1) {
        job.answer.complete(new Renewal.Renewed(new Validity(sent, job.request.lease())));
      } else {
        job.answer.complete(Renewal.GONE);
      }
    }
    send(again, ALL_KEYS, last);
  }

  /**
   * What fails for several at once is asked for one by one where that helps.
   *
   * <p>While a slot migrates, Redis refuses calls with several keys of which some do not exist.
   * Most holds need their head only; asked for one by one, they go through.
   */
  private void failed(List<Job> jobs, boolean last, Throwable failure) {
    Throwable cause = Failures.unwrapped(failure);
    String message = cause == null ? "" : String.valueOf(cause.getMessage());
    if (jobs.size() > 1 && message.startsWith("CROSSSLOT")) {
      mixes = false; // A Cluster that does not say so, such as behind a proxy.
      jobs.forEach(job -> send(List.of(job), job.isAlone() ? HEAD_ONLY : ALL_KEYS, last));
      return;
    }
    if (jobs.size() > 1 && cause != null && Failures.isForeign(cause)) {
      // Nobody knows whose key it is, and the others must not be lost for it.
      jobs.forEach(job -> send(List.of(job), job.isAlone() ? HEAD_ONLY : ALL_KEYS, last));
      return;
    }
    if (!last && message.startsWith("TRYAGAIN")) {
      jobs.forEach(job -> send(List.of(job), HEAD_ONLY, true));
      return;
    }
    jobs.forEach(
        job ->
            job.answer.completeExceptionally(
                Failures.ofLock(
                    store, "The renewal", job.request.grant().claim().name(), failure)));
  }
}
