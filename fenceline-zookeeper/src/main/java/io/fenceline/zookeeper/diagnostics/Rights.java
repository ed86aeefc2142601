package io.fenceline.zookeeper.diagnostics;

import io.fenceline.zookeeper.layout.Layout;
import io.fenceline.zookeeper.session.Requests;
import io.fenceline.zookeeper.session.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.data.ACL;

/** Finds out which rights this login lacks, by requests that change nothing. */
final class Rights {
  /*
   * A read tells by itself. A write is sent in one transaction with a check that fails: the server looks
   * at the rights of one operation after the other, and then does none of them.
   */
  private static final int OK = KeeperException.Code.OK.intValue();
  private static final int NO_PERMISSION = KeeperException.Code.NOAUTH.intValue();
  private static final int NO_SUCH_VERSION = Integer.MAX_VALUE;
  private static final byte[] NOTHING = {};
  private static final String PROBE = "fenceline-doctor";
  private static final String OWN = "nodes that it makes itself, by the ACL that it gives them";

  /** Names that are looked at one by one; what was made by others may have another ACL. */
  private static final int MOST_NAMES = 100;

  private static final int MOST_CLAIMS = 3;

  /**
   * A right that is missing.
   *
   * @param name read, write, create or delete, as in an ACL
   * @param path of which node; create and delete are of its children
   */
  record Missing(String name, String path) {}

  /** An operation that may be refused, and the right that it needs. */
  private record Attempt(Op operation, Missing right) {}

  /** What was read, or the right that is missing for that. */
  private record Listed(Optional<Missing> missing, List<String> children) {}

  private final Session session;
  private final Layout layout;
  private final List<ACL> acl;

  Rights(Session session, Layout layout, List<ACL> acl) {
    this.session = session;
    this.layout = layout;
    this.acl = acl;
  }

  CompletableFuture<List<Missing>> missing() {
    CompletableFuture<List<Missing>> fixed =
        Requests.all(
                List.of(
                    readable(layout.root),
                    attempted(
                        List.of(
                            new Attempt(
                                Op.setData(layout.heartbeat, NOTHING, -1),
                                new Missing("write", layout.heartbeat)))),
                    attempted(wayOfAClaim())),
                right -> right)
            .thenApply(Rights::present);
    CompletableFuture<List<Missing>> folders =
        list(layout.locks)
            .thenCompose(
                listed ->
                    Requests.all(listed.children, shard -> ofShard(layout.locks + "/" + shard))
                        .thenCompose(this::withNames)
                        .thenApply(
                            found -> {
                              List<Missing> all = new ArrayList<>(found);
                              listed.missing.ifPresent(all::add);
                              return all;
                            }));
    return fixed.thenCombine(
        folders,
        (some, more) -> {
          List<Missing> all = new ArrayList<>(some);
          all.addAll(more);
          return all.stream().distinct().toList();
        });
  }

  private static List<Missing> present(List<Optional<Missing>> rights) {
    return rights.stream().flatMap(Optional::stream).toList();
  }

  /** All that a claim of a new name does. */
  private List<Attempt> wayOfAClaim() {
    String shard = layout.locks + "/" + PROBE;
    String name = shard + "/" + PROBE;
    String claim = name + "/" + PROBE;
    return List.of(
        new Attempt(create(shard), new Missing("create", layout.locks)),
        new Attempt(create(name), new Missing("create", OWN)),
        new Attempt(create(claim), new Missing("create", OWN)),
        new Attempt(Op.check(claim, -1), new Missing("read", OWN)),
        new Attempt(Op.setData(claim, NOTHING, -1), new Missing("write", OWN)),
        new Attempt(Op.delete(claim, -1), new Missing("delete", OWN)));
  }

  private Op create(String path) {
    return Op.create(path, NOTHING, acl, CreateMode.PERSISTENT);
  }

  /** What is missing of a folder of names, and the names in it. */
  private record Shard(List<Missing> missing, List<String> names) {}

  private CompletableFuture<Shard> ofShard(String shard) {
    CompletableFuture<Optional<Missing>> creating =
        attempted(List.of(new Attempt(create(shard + "/" + PROBE), new Missing("create", shard))));
    return list(shard)
        .thenCombine(
            creating,
            (listed, create) ->
                new Shard(
                    present(List.of(listed.missing, create)),
                    listed.children.stream().map(name -> shard + "/" + name).toList()));
  }

  private CompletableFuture<List<Missing>> withNames(List<Shard> shards) {
    List<String> names =
        shards.stream().flatMap(shard -> shard.names.stream()).limit(MOST_NAMES).toList();
    return Requests.all(names, this::ofName)
        .thenApply(
            found -> {
              List<Missing> all = new ArrayList<>();
              shards.forEach(shard -> all.addAll(shard.missing));
              found.forEach(all::addAll);
              return all;
            });
  }

  private CompletableFuture<List<Missing>> ofName(String name) {
    String claim = name + "/" + PROBE;
    CompletableFuture<Optional<Missing>> changing =
        attempted(
            List.of(
                new Attempt(create(claim), new Missing("create", name)),
                new Attempt(Op.delete(claim, -1), new Missing("delete", name))));
    return list(name)
        .thenCompose(
            listed ->
                Requests.all(
                        listed.children.stream().limit(MOST_CLAIMS).toList(),
                        node -> readable(name + "/" + node))
                    .thenCombine(
                        changing,
                        (claims, change) -> {
                          List<Missing> all = new ArrayList<>(present(claims));
                          all.addAll(present(List.of(listed.missing, change)));
                          return all;
                        }));
  }

  // Requests. -----------------------------------------------------------------------------------

  private CompletableFuture<Optional<Missing>> readable(String path) {
    CompletableFuture<Optional<Missing>> answer = new CompletableFuture<>();
    AsyncCallback.DataCallback heard =
        (code, asked, context, data, stat) ->
            answer.complete(missingIf(code, new Missing("read", path)));
    session.zk.getData(path, false, heard, null);
    return answer;
  }

  private CompletableFuture<Listed> list(String path) {
    CompletableFuture<Listed> answer = new CompletableFuture<>();
    AsyncCallback.ChildrenCallback heard =
        (code, asked, context, children) ->
            answer.complete(
                new Listed(
                    missingIf(code, new Missing("read", path)), code == OK ? children : List.of()));
    session.zk.getChildren(path, false, heard, null);
    return answer;
  }

  private static Optional<Missing> missingIf(int code, Missing right) {
    return code == NO_PERMISSION ? Optional.of(right) : Optional.empty();
  }

  /** The first right that is missing for these operations; none of them is done. */
  private CompletableFuture<Optional<Missing>> attempted(List<Attempt> attempts) {
    CompletableFuture<Optional<Missing>> answer = new CompletableFuture<>();
    AsyncCallback.MultiCallback heard =
        (code, asked, context, results) -> {
          for (int i = 0; results != null && i < attempts.size(); i++) {
            if (results.get(i) instanceof OpResult.ErrorResult error
                && error.getErr() == NO_PERMISSION) {
              answer.complete(Optional.of(attempts.get(i).right));
            }
          }
          answer.complete(Optional.empty());
        };
    List<Op> all = new ArrayList<>();
    attempts.forEach(attempt -> all.add(attempt.operation));
    all.add(Op.check(layout.root, NO_SUCH_VERSION));
    session.zk.multi(all, heard, null);
    return answer;
  }
}
