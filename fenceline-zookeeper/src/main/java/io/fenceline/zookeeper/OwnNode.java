package io.fenceline.zookeeper;

import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.Release;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/** Where the node of a claim is, and how it is found and deleted; knows nothing of its state. */
final class OwnNode {
  private static final byte[] NOTHING = {};
  private static final int OK = KeeperException.Code.OK.intValue();
  private static final int NO_NODE = KeeperException.Code.NONODE.intValue();

  final String tag;
  final String parent;
  private final ZooKeeperLockStore store;
  private final ClaimRequest request;

  /**
   * What was found of an owner.
   *
   * @param line everyone in line, in no order
   * @param path the node that belongs to the living session; null if there is none
   * @param stat what ZooKeeper knows of it
   */
  record Found(List<Place> line, @Nullable String path, @Nullable Stat stat) {}

  OwnNode(ZooKeeperLockStore store, ClaimRequest request) {
    this.store = store;
    this.request = request;
    this.tag = Place.tagOf(request.owner());
    this.parent = store.paths.of(request.name());
  }

  /** The path of the node up to its sequence. */
  String prefix() {
    return parent + "/" + Place.prefix(request.mode(), request.waits(), store.clientTag, tag);
  }

  String path(Place place) {
    return parent + "/" + place.node();
  }

  /** The name of a node below this name. */
  String node(String path) {
    return path.substring(parent.length() + 1);
  }

  /**
   * Deletes a node.
   *
   * @param handsOver also tells whoever watches it that its owner had the name: it is changed and
   *     deleted in one step, so the next one in line need not list the line
   */
  CompletableFuture<Release> delete(String path, boolean handsOver) {
    CompletableFuture<Release> answer = new CompletableFuture<>();
    Session on;
    try {
      on = store.sessions.current();
    } catch (StoreUnavailableException e) {
      answer.completeExceptionally(e);
      return answer;
    }
    if (handsOver) {
      AsyncCallback.MultiCallback heard =
          (code, asked, context, results) -> deleted(answer, on, code);
      on.zk.multi(List.of(Op.setData(path, NOTHING, -1), Op.delete(path, -1)), heard, null);
    } else {
      AsyncCallback.VoidCallback heard = (code, asked, context) -> deleted(answer, on, code);
      on.zk.delete(path, -1, heard, null);
    }
    return answer;
  }

  private void deleted(CompletableFuture<Release> answer, Session on, int code) {
    if (code == OK || code == NO_NODE) {
      answer.complete(code == OK ? Release.RELEASED : Release.GONE);
    } else {
      answer.completeExceptionally(on.failure("Giving back lock '" + request.name() + "'", code));
    }
  }

  /** Deletes whatever there is of this owner, in whatever session it was made. */
  CompletableFuture<Release> purge() {
    try {
      return purge(store.sessions.current());
    } catch (StoreUnavailableException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** As {@link #purge()}, asked on a session that need not be the one of now. */
  CompletableFuture<Release> purge(Session on) {
    Calls calls = new Calls(on);
    return calls
        .newestChildren(parent)
        .thenCompose(
            children -> Inspection.all(own(Line.parse(children)), p -> calls.delete(path(p))))
        .thenApply(deleted -> deleted.contains(true) ? Release.RELEASED : Release.GONE);
  }

  /**
   * Looks for a node of this owner after everything that was sent before has been done or never
   * will be. One of a session that has ended will never be ours again: it is deleted.
   */
  CompletableFuture<Found> find(Session on) {
    Calls calls = new Calls(on);
    return calls
        .newestChildren(parent)
        .thenCompose(
            children -> {
              List<Place> line = Line.parse(children);
              return sort(calls, on, line, own(line));
            });
  }

  private CompletableFuture<Found> sort(
      Calls calls, Session on, List<Place> line, List<Place> own) {
    if (own.isEmpty()) {
      return CompletableFuture.completedFuture(new Found(line, null, null));
    }
    return Inspection.all(own, place -> calls.read(path(place)))
        .thenCompose(
            nodes -> {
              Found found = new Found(line, null, null);
              List<Place> dead = new ArrayList<>(0);
              for (int i = 0; i < own.size(); i++) {
                Calls.Node node = nodes.get(i);
                if (node != null && node.stat().getEphemeralOwner() == on.id()) {
                  found = new Found(line, path(own.get(i)), node.stat());
                } else if (node != null) {
                  dead.add(own.get(i));
                }
              }
              Found result = found;
              line.removeAll(dead);
              return Inspection.all(dead, place -> calls.delete(path(place)))
                  .thenApply(deleted -> result);
            });
  }

  private List<Place> own(List<Place> line) {
    return line.stream().filter(place -> place.tag().equals(tag)).toList();
  }
}
