package io.fenceline.redis;

import static io.fenceline.redis.Layout.bytes;

import io.fenceline.redis.Topology.Purpose;
import io.fenceline.spi.Moment;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.Renewal;
import io.fenceline.spi.Time;
import io.fenceline.spi.Validity;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/**
 * Renews many holds with few calls: up to a hundred with one, all of one bucket where the servers
 * are a Cluster. All calls are under way at once, so a server that is down delays only its own.
 */
final class Renewals {
  private static final int MOST_AT_ONCE = 128;
  private static final int KEYS_EACH = 4;
  private static final int NEEDS_ALL_KEYS = 2;

  private final Topology topology;
  private final Time time;
  private final String store;

  /** One hold to be renewed, and who waits for the answer. */
  private record Job(RenewRequest request, Layout.Place place, CompletableFuture<Renewal> answer) {
    byte[] owner() {
      return request.grant().claim().owner().bytes();
    }

    byte[] term() {
      return bytes(request.lease().plus(request.grant().claim().delay()).toMillis());
    }
  }

  Renewals(Topology topology, Time time, String store) {
    this.topology = topology;
    this.time = time;
    this.store = store;
  }

  List<CompletableFuture<Renewal>> renew(List<RenewRequest> requests) {
    List<CompletableFuture<Renewal>> answers = new ArrayList<>(requests.size());
    Map<Integer, List<Job>> groups = new TreeMap<>();
    for (RenewRequest request : requests) {
      Job job =
          new Job(request, Layout.place(request.grant().claim().name()), new CompletableFuture<>());
      answers.add(job.answer);
      int group = topology.mixesBuckets() ? 0 : job.place.bucket();
      groups.computeIfAbsent(group, any -> new ArrayList<>()).add(job);
    }
    for (List<Job> group : groups.values()) {
      for (int from = 0; from < group.size(); from += MOST_AT_ONCE) {
        send(group.subList(from, Math.min(group.size(), from + MOST_AT_ONCE)), KEYS_EACH, false);
      }
    }
    return answers;
  }

  private void send(List<Job> jobs, int width, boolean last) {
    byte[][] keys = new byte[jobs.size() * width][];
    byte[][] args = new byte[1 + 2 * jobs.size()][];
    args[0] = bytes(width);
    for (int i = 0; i < jobs.size(); i++) {
      Job job = jobs.get(i);
      System.arraycopy(job.place.keys(), 0, keys, i * width, width);
      args[1 + 2 * i] = job.owner();
      args[2 + 2 * i] = job.term();
    }
    Moment sent = time.now();
    topology
        .call(Purpose.RENEWALS, jobs.get(0).place.bucket(), new Call(Script.RENEW, keys, args))
        .whenComplete(
            (answer, failure) -> {
              if (failure == null) {
                answered(jobs, answer, sent);
              } else {
                failed(jobs, last, failure);
              }
            });
  }

  private void answered(List<Job> jobs, List<Object> answer, Moment sent) {
    for (int i = 0; i < jobs.size(); i++) {
      Job job = jobs.get(i);
      long fate = Answers.number(answer.get(i));
      if (fate == NEEDS_ALL_KEYS) {
        send(List.of(job), KEYS_EACH, true);
      } else if (fate == 1) {
        job.answer.complete(new Renewal.Renewed(new Validity(sent, job.request.lease())));
      } else {
        job.answer.complete(Renewal.GONE);
      }
    }
  }

  /**
   * While a slot migrates, Redis refuses calls with several keys of which some do not exist. Most
   * holds need their head only; asked for one by one, they go through.
   */
  private void failed(List<Job> jobs, boolean last, Throwable failure) {
    Throwable cause = Failures.unwrapped(failure);
    String message = cause == null ? "" : String.valueOf(cause.getMessage());
    if (!last && message.startsWith("TRYAGAIN")) {
      jobs.forEach(job -> send(List.of(job), 1, true));
      return;
    }
    jobs.forEach(
        job ->
            job.answer.completeExceptionally(
                Failures.meaning(
                    store,
                    "The renewal of lock '" + job.request.grant().claim().name() + "'",
                    failure)));
  }
}
