package io.fenceline.cli.doctor;

import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import io.fenceline.FencelineException;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.ReleaseOutcome;
import io.fenceline.diagnosis.Finding;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.diagnosis.Guarantees;
import io.fenceline.diagnosis.LockReport;
import io.fenceline.settings.Durations;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What a client can find out about a store that it is connected to: whether it may do all that a
 * lock needs, how fast, and how far its clock is from ours.
 *
 * <p>It takes one lock, of a name that nobody else uses, and gives it back.
 */
public final class Examination {
  private static final int SAMPLES = 10;
  private static final int LATENCY_SHARE = 20;
  private static final AtomicLong COUNT = new AtomicLong();

  private final Fenceline fenceline;
  private final Duration lease;
  private final List<Finding> findings = new ArrayList<>();

  /** For locks that will have this lease. */
  public Examination(Fenceline fenceline, Duration lease) {
    this.fenceline = fenceline;
    this.lease = lease;
  }

  /** Does it all; a check that fails is a finding, and does not keep the others from being done. */
  public List<Finding> findings() throws InterruptedException {
    guarantees();
    probe();
    latency();
    try {
      findings.addAll(fenceline.diagnose());
    } catch (FencelineException e) {
      findings.add(failed("settings", "the store's settings could not be read", e));
    }
    return List.copyOf(findings);
  }

  private void guarantees() {
    Guarantees given = fenceline.guarantees();
    List<String> missing =
        Arrays.stream(Guarantee.values())
            .filter(guarantee -> !given.gives(guarantee))
            .map(guarantee -> guarantee + " (" + guarantee.meaning() + ")")
            .toList();
    String failover = "At a failover: " + given.onFailover() + ".";
    if (missing.isEmpty()) {
      findings.add(Finding.ok("guarantees", "the store gives all guarantees", failover));
    } else {
      findings.add(
          Finding.note(
              "guarantees",
              "not given: " + String.join(", ", missing),
              failover,
              "If you need one of these, choose another store (see 'fenceline stores'), and let the"
                  + " guarded resource check the token."));
    }
    findings.add(durable(given));
    try {
      given.checkLease(lease, Duration.ZERO);
      findings.add(
          Finding.ok(
              "lease",
              "a lease of " + Durations.show(lease) + " is within the store's bounds",
              "If a holder dies, its name stays closed for up to this long."));
    } catch (IllegalArgumentException e) {
      findings.add(
          Finding.serious(
              "lease",
              String.valueOf(e.getMessage()),
              "No lock with this lease can be acquired.",
              "Use a lease within the bounds."));
    }
  }

  private static Finding durable(Guarantees given) {
    String onCrash = given.onCrash();
    return switch (given.durable()) {
      case YES ->
          Finding.ok(
              "durable", "locks survive a crash of the store", "On a crash: " + onCrash + ".");
      case NO ->
          Finding.note(
              "durable",
              onCrash,
              "Locks may be forgotten while they are held, and given to another holder.",
              "Change the setting, or let the guarded resource check the token.");
      case UNKNOWN ->
          Finding.note(
              "durable",
              "it is unknown whether locks survive a crash: " + onCrash,
              "Locks may be forgotten while they are held, and given to another holder.",
              "Allow this user to read the store's settings.");
    };
  }

  /** Acquire, look, renew, release: what has no permission, or a full disk, shows here. */
  private void probe() throws InterruptedException {
    String name =
        "fenceline-doctor-%d-%d".formatted(ProcessHandle.current().pid(), COUNT.incrementAndGet());
    FencedLock lock;
    Duration fixed =
        lease.compareTo(fenceline.guarantees().leases().shortest()) < 0
            ? fenceline.guarantees().leases().shortest()
            : lease;
    try {
      lock = fenceline.lock(name, LockOptions.defaults().fixedLease(fixed));
    } catch (IllegalArgumentException e) {
      return; // The finding about the lease says it.
    }
    Instant asked = Instant.now();
    Optional<Hold> held = Optional.empty();
    try {
      held = lock.tryAcquire();
      if (held.isEmpty()) {
        findings.add(
            Finding.serious(
                "probe",
                "a new name could not be locked",
                "The store refuses new locks.",
                "Look at the store's own log."));
        return;
      }
      Instant granted = Instant.now();
      clock(fenceline.inspect(name), asked, granted);
      held.get().extend(fixed);
      ReleaseOutcome outcome = held.get().release();
      findings.add(
          outcome == ReleaseOutcome.RELEASED
              ? Finding.ok(
                  "permissions",
                  "a lock was acquired, inspected, renewed and released (token="
                      + held.get().token()
                      + ")",
                  "This client may do all that a lock needs.")
              : Finding.serious(
                  "permissions",
                  "a lock was acquired and renewed, but its release returned " + outcome,
                  "A released lock stays closed until its lease ends.",
                  "Check whether this user may delete the lock's data."));
    } catch (FencelineException e) {
      findings.add(failed("permissions", "a lock could not be acquired and released", e));
    } finally {
      held.ifPresent(Hold::release);
    }
  }

  /** The store's clock says when the grant was made; ours says between what. */
  private void clock(LockReport report, Instant asked, Instant granted) {
    if (report.isFree()) {
      return;
    }
    Instant since = report.holders().get(0).since();
    Duration early = Duration.between(since, asked);
    Duration late = Duration.between(granted, since);
    Duration off = early.compareTo(late) > 0 ? early : late;
    String meaning =
        "Leases are counted by the store's clock there and by a monotonic clock here, so an offset"
            + " breaks nothing; but ages in listings, and logs of both, differ by it.";
    if (off.compareTo(Duration.ofSeconds(1)) <= 0) {
      findings.add(
          Finding.ok("clock", "the store's clock is within a second of this machine's", meaning));
    } else {
      findings.add(
          Finding.note(
              "clock",
              "the store's clock is "
                  + Durations.show(off)
                  + (early.compareTo(late) > 0 ? " behind" : " ahead of")
                  + " this machine's",
              meaning
                  + " Tokens of stores that count by their clock would go back if it were replaced"
                  + " by one that is behind.",
              "Run a time service (chrony, systemd-timesyncd) on both machines."));
    }
  }

  private void latency() {
    List<Long> nanos = new ArrayList<>();
    try {
      for (int i = 0; i < SAMPLES; i++) {
        long start = System.nanoTime();
        fenceline.inspect("fenceline-doctor-latency");
        nanos.add(System.nanoTime() - start);
      }
    } catch (FencelineException e) {
      findings.add(failed("latency", "a name could not be inspected", e));
      return;
    }
    nanos.sort(null);
    Duration median = Duration.ofNanos(nanos.get(SAMPLES / 2));
    Duration worst = Duration.ofNanos(nanos.get(SAMPLES - 1));
    String found =
        "a request takes %s (median), %s (slowest of %d)"
            .formatted(Durations.show(median), Durations.show(worst), SAMPLES);
    Duration bound = lease.dividedBy(LATENCY_SHARE);
    if (worst.compareTo(bound) <= 0) {
      findings.add(
          Finding.ok(
              "latency",
              found,
              "Renewals of a " + Durations.show(lease) + " lease have plenty of time."));
    } else if (worst.compareTo(lease.dividedBy(3)) < 0) {
      findings.add(
          Finding.note(
              "latency",
              found,
              "At this latency, few renewal attempts fit into a lease of "
                  + Durations.show(lease)
                  + ".",
              "Use a longer lease, or a store that is closer to this machine."));
    } else {
      findings.add(
          Finding.serious(
              "latency",
              found,
              "Renewals may come too late for a lease of " + Durations.show(lease) + ".",
              "Use a longer lease, or a store that is closer to this machine."));
    }
  }

  private static Finding failed(String check, String found, FencelineException e) {
    return Finding.serious(
        check,
        found + ": " + e.getMessage(),
        "Locks do not work with this store and user.",
        "Give this user the permissions that docs/least-rights.md lists, or repair the store.");
  }
}
