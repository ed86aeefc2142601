package io.fenceline.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.PermitHold;
import io.fenceline.diagnosis.LockReport;
import io.fenceline.event.Contended;
import io.fenceline.event.Renewed;
import io.fenceline.testbed.proxy.Fault;
import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testbed.proxy.Trigger;
import io.fenceline.testkit.Eventually;
import io.fenceline.zookeeper.claim.ClaimTuning;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What goes over the wire, counted. */
class WireTest {
  private static final Duration LEASE = Duration.ofSeconds(2);

  private final Fleet fleet = new Fleet();
  private FaultProxy proxy;
  private Fenceline client;

  @BeforeEach
  void connect() {
    proxy = FaultProxy.to(Servers.single().host(), Servers.single().port(), Protocol.ZOOKEEPER);
    client = fleet.client("counted", Servers.store(proxy.address()), LEASE);
  }

  @AfterEach
  void close() {
    fleet.close();
    proxy.close();
  }

  /** All but pings, heartbeats, and the listing that goes with renewals. */
  private Map<String, Long> requests() {
    Map<String, Long> counts = new TreeMap<>(proxy.counts());
    counts.keySet().removeAll(List.of("ping", "setData", "getEphemerals"));
    return counts;
  }

  @Test
  void uncontendedAcquire_isTwoRequests_sentTogether_andReleaseIsOne() {
    Fenceline other = fleet.client("other", Servers.store(Servers.single().address()), LEASE);
    Fleet.take(other, "wire").release(); // Makes the container, which stays for a minute.
    proxy.resetCounts();
    Fault slow = proxy.holdReply(Trigger.first(request -> request.is("create2")));

    CompletableFuture<Hold> acquiring = client.lock("wire").acquireAsync(Fleet.AMPLE);
    // The second request is sent before the first is answered: it costs no round trip.
    Eventually.until(
        Fleet.AMPLE,
        "both requests",
        () -> slow.timesApplied() == 1 && proxy.count("getChildren") == 1);
    assertThat(acquiring).isNotDone();
    slow.lift();
    Hold hold = Fleet.get(acquiring);
    assertThat(requests()).isEqualTo(Map.of("create2", 1L, "getChildren", 1L));

    proxy.resetCounts();
    hold.release();
    assertThat(requests()).isEqualTo(Map.of("delete", 1L));
  }

  @Test
  void firstAcquireOfAName_isTwoRoundTrips() {
    proxy.resetCounts();
    Fleet.take(client, "wire-cold");
    // In vain, then again with the container (and its folder, if that is new, too).
    assertThat(requests())
        .containsEntry("create2", requests().containsKey("create") ? 2L : 3L)
        .containsEntry("createContainer", 1L)
        .containsEntry("getChildren", 2L);
  }

  @Test
  void parkedWaiter_costsOneReadALease() {
    Fenceline holder = fleet.client("holder", Servers.store(Servers.single().address()), LEASE);
    Hold held = Fleet.take(holder, "wire-parked");
    CompletableFuture<Hold> waiting = client.lock("wire-parked").acquireAsync(Fleet.AMPLE);
    Eventually.until(Fleet.AMPLE, "the wait", () -> !fleet.heard(Contended.class).isEmpty());
    proxy.resetCounts();
    long start = System.nanoTime();
    Eventually.until(Fleet.AMPLE, "three polls", () -> proxy.count("getChildren") >= 3);
    long leases = (System.nanoTime() - start) / LEASE.toNanos();

    assertThat(leases).isGreaterThanOrEqualTo(2); // The first one may be due at once.
    assertThat(requests()).isEqualTo(Map.of("getChildren", 3L));

    proxy.resetCounts();
    held.release();
    assertThat(Fleet.get(waiting).isValid()).isTrue();
    assertThat(requests()).isEmpty(); // The deletion of the one ahead is the grant.
  }

  @Test
  void waiterThatHasMetTheHolderBefore_readsItsOwnNodeOnly_andSaysWhoHolds() {
    Fenceline holder = fleet.client("holder", Servers.store(Servers.single().address()), LEASE);
    for (long turn = 1; turn <= 3; turn++) {
      Hold held = Fleet.take(holder, "wire-met");
      proxy.resetCounts();
      CompletableFuture<Hold> waiting = client.lock("wire-met").acquireAsync(Fleet.AMPLE);
      long told = turn;
      Eventually.until(Fleet.AMPLE, "the wait", () -> fleet.heard(Contended.class).size() == told);
      long reads = proxy.count("getData"); // A lost hold would only leave out reads.

      held.release();
      Fleet.get(waiting).release();

      assertThat(reads).as("reads in turn %s", turn).isLessThanOrEqualTo(turn == 1 ? 2 : 1);
    }
    assertThat(fleet.heard(Contended.class)).extracting(Contended::holder).containsOnly("holder");
  }

  @Test
  void handOverInALongQueue_needsNoListing_howeverManyAreAhead() {
    List<CompletableFuture<Hold>> waiting = new ArrayList<>();
    Hold held = Fleet.take(client, "wire-queue");
    List<FaultProxy> proxies = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      FaultProxy own =
          FaultProxy.to(Servers.single().host(), Servers.single().port(), Protocol.ZOOKEEPER);
      proxies.add(own);
      Fenceline next =
          fleet.client(
              "next-" + i,
              ZooKeeperStores.at(Servers.uri(own.address(), Servers.SESSION))
                  .tuned(new ClaimTuning(true, 0)),
              LEASE.multipliedBy(2));
      int already = i;
      waiting.add(next.lock("wire-queue").acquireAsync(Fleet.AMPLE));
      Eventually.until(
          Fleet.AMPLE, "the wait", () -> fleet.heard(Contended.class).size() == already + 1);
    }
    proxies.forEach(FaultProxy::resetCounts);
    held.release();
    for (CompletableFuture<Hold> next : waiting) {
      Fleet.get(next).release();
    }
    // Polls may come in between, if the machine is slow; at most one for each.
    assertThat(proxies.stream().mapToLong(own -> own.count("getChildren")).sum()).isLessThan(3);
    proxies.forEach(FaultProxy::close);
  }

  @Test
  void listingOfNames_costsFewRequests_howeverManyFoldersThereAre() {
    Fenceline other =
        fleet.client("other", Servers.store(Servers.single().address()), LEASE.multipliedBy(2));
    List<String> names = IntStream.range(100, 150).mapToObj(i -> "wire-list-" + i).toList();
    List<Hold> held = names.stream().map(name -> Fleet.take(other, name)).toList();
    proxy.resetCounts();

    assertThat(client.list("wire-list-", 100)).extracting(LockReport::name).isEqualTo(names);

    // The folders, then the names, each counted and read; what a claim says is read one by one.
    Map<String, Long> requests = requests();
    assertThat(requests.getOrDefault("getData", 0L)).isEqualTo(names.size());
    requests.remove("getData");
    assertThat(requests.values().stream().mapToLong(Long::longValue).sum()).isLessThan(10);
    held.forEach(Hold::release);
  }

  @Test
  void claimsThatComeTogether_shareOneList() {
    PermitHold first = client.semaphore("wire-burst", 1).tryAcquire().orElseThrow();
    proxy.resetCounts();
    Fault slow = proxy.holdReply(Trigger.first(request -> request.is("getChildren")));
    List<CompletableFuture<PermitHold>> waiting = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      waiting.add(client.semaphore("wire-burst", 1).acquireAsync(Fleet.AMPLE));
    }
    Eventually.until(
        Fleet.AMPLE,
        "all nodes, and the reply",
        () -> proxy.count("create2") == 50 && slow.timesApplied() == 1);
    slow.lift();
    Eventually.until(Fleet.AMPLE, "all watches", () -> proxy.count("getData") >= 100);

    assertThat(proxy.count("getChildren")).isEqualTo(2);
    long token = first.token();
    first.release();
    for (CompletableFuture<PermitHold> next : waiting) {
      PermitHold granted = Fleet.get(next);
      assertThat(granted.token()).isGreaterThan(token);
      assertThat(waiting.stream().filter(CompletableFuture::isDone).count())
          .isEqualTo(waiting.indexOf(next) + 1L);
      token = granted.token();
      granted.release();
    }
  }

  @Test
  void aLongLineOfOneClient_isPolledTogether() {
    Duration lease = LEASE.multipliedBy(2); // The longest that fits the session.
    Fenceline patient = fleet.client("patient", Servers.store(proxy.address()), lease);
    PermitHold held = patient.semaphore("wire-line", 1).tryAcquire().orElseThrow();
    List<CompletableFuture<PermitHold>> waiting = new ArrayList<>();
    for (int i = 0; i < 150; i++) {
      waiting.add(patient.semaphore("wire-line", 1).acquireAsync(Fleet.AMPLE));
    }
    Eventually.until(Fleet.AMPLE, "the waits", () -> fleet.heard(Contended.class).size() == 150);
    proxy.resetCounts();
    long start = System.nanoTime();
    long nanos = lease.toNanos() * 3 / 2;
    Eventually.until(Fleet.AMPLE, "one and a half leases", () -> System.nanoTime() - start > nanos);
    long leases = (System.nanoTime() - start) / lease.toNanos() + 1;

    // Each of them has looked at least once, at lists that were no older than a quarter of a lease.
    assertThat(proxy.count("getChildren")).isBetween(1L, leases * 5);
    assertThat(held.isValid()).isTrue();
    waiting.forEach(next -> next.cancel(true));
  }

  @Test
  void aThousandHolds_costNoMoreRenewalsThanOne() {
    Duration lease = LEASE.multipliedBy(2);
    Fenceline patient = fleet.client("patient", Servers.store(proxy.address()), lease);
    Hold one = Fleet.take(patient, "wire-many-0");
    long alone = requestsIn(lease);

    List<Hold> many = new ArrayList<>();
    for (int i = 1; i < 1_000; i++) {
      many.add(Fleet.take(patient, "wire-many-" + i));
    }
    long together = requestsIn(lease);

    assertThat(one.isValid()).isTrue();
    assertThat(many).allMatch(Hold::isValid);
    assertThat(fleet.heard(Renewed.class)).hasSizeGreaterThan(1_000);
    assertThat(together).isLessThanOrEqualTo(alone * 2);
    many.stream().map(Hold::releaseAsync).toList().forEach(Fleet::get);
  }

  private long requestsIn(Duration duration) {
    proxy.resetCounts();
    long start = System.nanoTime();
    Eventually.until(Fleet.AMPLE, "a lease", () -> System.nanoTime() - start > duration.toNanos());
    Map<String, Long> counts = proxy.counts();
    assertThat(counts.keySet()).isSubsetOf("ping", "setData", "getEphemerals");
    return counts.getOrDefault("setData", 0L) + counts.getOrDefault("getEphemerals", 0L);
  }
}
