package io.fenceline.zookeeper.diagnostics;

import io.fenceline.diagnosis.Finding;
import io.fenceline.settings.Durations;
import io.fenceline.spi.StoreContext;
import io.fenceline.time.Moment;
import io.fenceline.zookeeper.layout.Layout;
import io.fenceline.zookeeper.session.Heartbeat;
import io.fenceline.zookeeper.session.Session;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/** What an operator should know of this ensemble. Changes nothing but the heartbeat. */
public final class Diagnostics {
  private static final int OK = KeeperException.Code.OK.intValue();
  private static final int NO_NODE = KeeperException.Code.NONODE.intValue();
  private static final Duration SLOW = Duration.ofMillis(100);

  private final Layout layout;
  private final List<ACL> acl;
  private final StoreContext context;
  private final Session session;
  private final Duration tick;

  public Diagnostics(
      StoreContext context, Session session, Layout layout, List<ACL> acl, Duration tick) {
    this.layout = layout;
    this.acl = acl;
    this.context = context;
    this.session = session;
    this.tick = tick;
  }

  public CompletableFuture<List<Finding>> run() {
    CompletableFuture<Finding> size = members();
    CompletableFuture<Finding> latency = latency();
    CompletableFuture<List<Finding>> rights =
        new Rights(session, layout, acl).missing().thenApply(this::permissions);
    return size.thenCombine(
            latency,
            (members, writes) -> {
              List<Finding> findings = new ArrayList<>();
              findings.add(members);
              findings.add(writes);
              findings.add(sessionLimit());
              return findings;
            })
        .thenCombine(
            rights,
            (findings, permissions) -> {
              findings.addAll(permissions);
              return findings;
            });
  }

  /** The members, as the ensemble itself has written them down; none where there is one server. */
  private CompletableFuture<Finding> members() {
    CompletableFuture<Finding> answer = new CompletableFuture<>();
    AsyncCallback.DataCallback heard =
        (code, path, ignored, data, stat) -> {
          if (code == OK) {
            answer.complete(members(data));
          } else {
            answer.complete(
                Finding.note(
                    "ensemble",
                    "the list of servers can't be read (" + KeeperException.Code.get(code) + ")",
                    "it is unknown how many servers may fail",
                    "give this login the right to read " + ZooDefs.CONFIG_NODE));
          }
        };
    session.zk.getConfig(false, heard, null);
    return answer;
  }

  private static Finding members(byte @Nullable [] config) {
    String text = config == null ? "" : new String(config, StandardCharsets.UTF_8);
    long voters =
        text.lines()
            .filter(line -> line.startsWith("server.") && !line.contains(":observer"))
            .count();
    if (voters <= 1) {
      return Finding.note(
          "ensemble",
          "one server",
          "its failure stops all locks, and none is granted twice",
          "run three or five servers");
    }
    long mayFail = (voters - 1) / 2;
    String found = "%d voting servers".formatted(voters);
    String meaning = "%d of them may fail".formatted(mayFail);
    return voters % 2 == 0
        ? Finding.note(
            "ensemble", found, meaning + ", no more than with one server less", "run an odd number")
        : Finding.ok("ensemble", found, meaning);
  }

  private CompletableFuture<Finding> latency() {
    CompletableFuture<Finding> answer = new CompletableFuture<>();
    Moment sent = context.time().now();
    AsyncCallback.StatCallback heard =
        (code, path, ignored, stat) -> {
          Duration took = Duration.ofNanos(context.time().nanos() - sent.nanos());
          answer.complete(latency(code, took));
        };
    session.zk.setData(layout.heartbeat, new byte[0], -1, heard, null);
    return answer;
  }

  private static Finding latency(int code, Duration took) {
    if (code != OK && code != NO_NODE) {
      return Finding.serious(
          "heartbeat",
          "a write of the heartbeat failed with " + KeeperException.Code.get(code),
          "no lock can be kept",
          "give this login the right to write the heartbeat node");
    }
    String found = "a write to a majority took " + Durations.show(took);
    String meaning = "each acquire and each release takes about as long";
    return took.compareTo(SLOW) > 0
        ? Finding.note(
            "heartbeat", found, meaning, "put the transaction log on a fast disk of its own")
        : Finding.ok("heartbeat", found, meaning);
  }

  private Finding sessionLimit() {
    Duration agreed = Duration.ofMillis(session.timeoutMillis());
    return Finding.ok(
        "session",
        "sessions of %s were agreed on, with a tick of %s"
            .formatted(Durations.show(agreed), Durations.show(tick)),
        "leases of up to %s can be kept; a crashed holder's name opens after %s"
            .formatted(
                Durations.show(Heartbeat.longestLease(agreed, tick)), Durations.show(agreed)));
  }

  private List<Finding> permissions(List<Rights.Missing> missing) {
    return missing.isEmpty()
        ? List.of(permissions())
        : missing.stream()
            .map(
                right ->
                    Finding.serious(
                        "permissions",
                        "this login has no right to " + right.name() + " at " + right.path(),
                        "locks can't be acquired, kept or shown as they should be",
                        "grant it there (setAcl), as docs/least-rights.md describes"))
            .toList();
  }

  private Finding permissions() {
    boolean open = acl.equals(ZooDefs.Ids.OPEN_ACL_UNSAFE);
    return open
        ? Finding.note(
            "permissions",
            "every client may do everything with the nodes of locks",
            "whoever reaches the servers can release any lock",
            "connect with a user and a password, or set an ACL")
        : Finding.ok("permissions", "nodes have an ACL of their own", "others can't release locks");
  }
}
