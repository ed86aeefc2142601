package io.fenceline.etcd;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.cluster.Member;
import io.etcd.jetcd.maintenance.AlarmMember;
import io.etcd.jetcd.maintenance.StatusResponse;
import io.etcd.jetcd.options.GetOption;
import io.fenceline.diagnosis.Finding;
import io.fenceline.settings.Durations;
import io.fenceline.spi.Causes;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Looks a cluster over: its members, versions, alarms, latency, and what we may do there. */
final class Diagnostics {
  private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+)\\.(\\d+).*");
  private static final Duration SLOW = Duration.ofMillis(100);
  private static final long PATIENCE_NANOS = 1_500_000_000;

  private final EtcdClient etcd;
  private final Layout layout;
  private final Duration shortest;

  Diagnostics(EtcdClient etcd, Layout layout, Duration shortest) {
    this.etcd = etcd;
    this.layout = layout;
    this.shortest = shortest;
  }

  /** A member and what it says of itself; nothing if it does not answer. */
  private record Visit(Member member, @Nullable StatusResponse status) {}

  CompletableFuture<List<Finding>> examine() {
    List<CompletableFuture<List<Finding>>> checks =
        List.of(
            asked("members", Diagnostics::members)
                .thenCompose(this::visits)
                .thenApply(Diagnostics::judge),
            asked("alarms", Diagnostics::alarms).thenApply(Diagnostics::judgeAlarms),
            rights(),
            latency());
    return CompletableFuture.allOf(checks.toArray(CompletableFuture<?>[]::new))
        .handle(
            (done, failure) -> {
              List<Finding> found = new ArrayList<>();
              for (CompletableFuture<List<Finding>> check : checks) {
                found.addAll(check.exceptionally(Diagnostics::unanswered).join());
              }
              found.add(
                  Finding.ok(
                      "lease",
                      "the shortest lease is " + shortest.toSeconds() + "s",
                      "the server makes shorter ones longer, so they are refused"));
              return found;
            });
  }

  private static List<Finding> unanswered(Throwable failure) {
    return List.of(
        Finding.note(
            "cluster",
            "a request was not answered: " + Causes.unwrap(failure).getMessage(),
            "failed members or alarms that affect locks would go unnoticed",
            "run the check as a user with the right to read them, or use etcdctl endpoint status"));
  }

  private <T> CompletableFuture<T> asked(
      String what, Function<Client, CompletableFuture<T>> question) {
    return etcd.within(question.apply(etcd.client()), PATIENCE_NANOS, "The question for " + what);
  }

  // Members. ------------------------------------------------------------------------------------

  private static CompletableFuture<List<Member>> members(Client client) {
    return client.getClusterClient().listMember().thenApply(answer -> answer.getMembers());
  }

  private CompletableFuture<List<Visit>> visits(List<Member> members) {
    List<CompletableFuture<Visit>> visits = members.stream().map(this::visit).toList();
    return CompletableFuture.allOf(visits.toArray(CompletableFuture<?>[]::new))
        .thenApply(done -> visits.stream().map(CompletableFuture::join).toList());
  }

  private CompletableFuture<Visit> visit(Member member) {
    List<URI> addresses = member.getClientURIs();
    if (addresses.isEmpty()) {
      return CompletableFuture.completedFuture(new Visit(member, null));
    }
    return asked(
            "the status of a member",
            client -> client.getMaintenanceClient().statusMember(addresses.get(0).toString()))
        .handle((status, failure) -> new Visit(member, status));
  }

  private static List<Finding> judge(List<Visit> visits) {
    List<Finding> found = new ArrayList<>();
    List<Visit> voters = visits.stream().filter(v -> !v.member.isLearner()).toList();
    long silent = voters.stream().filter(v -> v.status == null).count();
    String figures = voters.size() + " voting members, " + silent + " of them silent";
    if (silent > 0) {
      String names =
          voters.stream()
              .filter(v -> v.status == null)
              .map(v -> v.member.getName())
              .collect(Collectors.joining(", "));
      found.add(
          Finding.serious(
              "members",
              figures + " (" + names + ")",
              "without a live majority, nothing is granted and all holds are lost",
              "start them, or remove them from the cluster; they are contacted at the addresses that"
                  + " they advertise"));
    } else if (voters.size() < 3) {
      found.add(
          Finding.note(
              "members",
              figures,
              "the failure of one member stops all locks",
              "run three members, or five"));
    } else {
      found.add(Finding.ok("members", figures, "a minority may fail"));
    }
    boolean led = voters.stream().anyMatch(v -> v.status != null && v.status.getLeader() != 0);
    found.add(
        led
            ? Finding.ok("leader", "there is one", "grants and keep-alives are answered")
            : Finding.serious(
                "leader",
                "no member knows a leader",
                "nothing is granted or renewed",
                "find out why the members do not reach each other"));
    found.add(judgeVersions(visits));
    return found;
  }

  private static Finding judgeVersions(List<Visit> visits) {
    TreeSet<String> versions = new TreeSet<>();
    visits.forEach(
        v -> {
          if (v.status != null) {
            versions.add(v.status.getVersion());
          }
        });
    String shown = String.join(", ", versions);
    return versions.stream().anyMatch(Diagnostics::revokesLiveLeases)
        ? Finding.serious(
            "version",
            shown,
            "a leader that stalls and comes back may revoke leases that are alive (etcd issue 15247)",
            "use 3.4.31, 3.5.13 or a later version; until then rely on fencing tokens")
        : Finding.ok("version", shown, "no known bug with leases");
  }

  /** Before the fix that makes an old leader's revocations void. */
  static boolean revokesLiveLeases(String version) {
    Matcher parts = VERSION.matcher(version);
    if (!parts.matches()) {
      return false;
    }
    int minor = Integer.parseInt(parts.group(2));
    int patch = Integer.parseInt(parts.group(3));
    return parts.group(1).equals("3")
        && (minor < 4 || (minor == 4 && patch < 31) || (minor == 5 && patch < 13));
  }

  // Alarms and permissions. ---------------------------------------------------------------------

  private static CompletableFuture<List<AlarmMember>> alarms(Client client) {
    return client.getMaintenanceClient().listAlarms().thenApply(answer -> answer.getAlarms());
  }

  private static List<Finding> judgeAlarms(List<AlarmMember> alarms) {
    if (alarms.isEmpty()) {
      return List.of(Finding.ok("alarms", "none", "writes are accepted"));
    }
    String shown =
        alarms.stream()
            .map(alarm -> alarm.getAlarmType().toString())
            .distinct()
            .collect(Collectors.joining(", "));
    return List.of(
        Finding.serious(
            "alarms",
            shown,
            "the cluster refuses writes: no lock can be acquired",
            "compact, defragment, then: etcdctl alarm disarm"));
  }

  /**
   * A right that locks need.
   *
   * @param name what it allows, and where
   * @param grant the arguments of {@code etcdctl role grant-permission ROLE} that give it
   * @param denied what the server said; empty if it allows it
   */
  private record Right(String name, String grant, Optional<String> denied) {}

  /**
   * Asks for each right by a request that changes nothing: reads, and the deletion of a key that is
   * never there. Only where the format may be read, its writing is tried by the transaction of a
   * connect, which needs both.
   */
  private CompletableFuture<List<Finding>> rights() {
    String format = layout.format().toString(StandardCharsets.UTF_8);
    String locks = layout.names("").toString(StandardCharsets.UTF_8);
    GetOption count = GetOption.builder().isPrefix(true).withCountOnly(true).build();
    String toFormat = "readwrite " + format;
    String toLocks = "--prefix readwrite " + locks;
    CompletableFuture<Right> readFormat =
        right("read " + format, toFormat, etcd.get(layout.format(), GetOption.DEFAULT));
    CompletableFuture<Right> writeFormat =
        readFormat.thenCompose(
            read ->
                read.denied.isPresent()
                    ? readFormat
                    : right("write " + format, toFormat, StoreOpener.checkFormat(etcd, layout)));
    List<CompletableFuture<Right>> rights =
        List.of(
            readFormat,
            writeFormat,
            right("read keys below " + locks, toLocks, etcd.get(layout.names(""), count)),
            right("write keys below " + locks, toLocks, etcd.delete(layout.ofNoClaim())));
    return CompletableFuture.allOf(rights.toArray(CompletableFuture<?>[]::new))
        .thenApply(done -> judgeRights(rights.stream().map(CompletableFuture::join).toList()));
  }

  private CompletableFuture<Right> right(String name, String grant, CompletableFuture<?> tried) {
    return etcd.within(tried, PATIENCE_NANOS, "The question for a right")
        .handle(
            (done, failure) ->
                new Right(
                    name,
                    grant,
                    failure == null
                        ? Optional.empty()
                        : Optional.of(String.valueOf(Causes.unwrap(failure).getMessage()))));
  }

  private static List<Finding> judgeRights(List<Right> rights) {
    List<Finding> found =
        rights.stream()
            .filter(right -> right.denied.isPresent())
            .distinct()
            .map(
                right ->
                    Finding.serious(
                        "permissions",
                        "this user may not " + right.name + " (" + right.denied.get() + ")",
                        "locks can't be acquired",
                        "etcdctl role grant-permission ROLE " + right.grant))
            .toList();
    return found.isEmpty()
        ? List.of(
            Finding.ok("permissions", "reads and writes are allowed", "locks can be acquired"))
        : found;
  }

  /**
   * A transaction that could write goes through the logs of a majority, whether it writes or not.
   */
  private CompletableFuture<List<Finding>> latency() {
    long started = etcd.context().time().nanos();
    return StoreOpener.checkFormat(etcd, layout)
        .handle(
            (done, failure) ->
                failure == null
                    ? List.of(
                        judgeLatency(Duration.ofNanos(etcd.context().time().nanos() - started)))
                    : List.of()); // Said by the rights.
  }

  static Finding judgeLatency(Duration took) {
    String found = "a transaction took " + Durations.show(took);
    String meaning = "each acquire and each release takes about as long";
    return took.compareTo(SLOW) > 0
        ? Finding.note(
            "latency",
            found,
            meaning,
            "put the members' logs on fast disks, and the members close to each other")
        : Finding.ok("latency", found, meaning);
  }
}
