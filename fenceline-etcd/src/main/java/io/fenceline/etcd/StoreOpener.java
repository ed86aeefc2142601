package io.fenceline.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.fenceline.StoreRefusedException;
import io.fenceline.settings.Durations;
import io.fenceline.spi.Causes;
import io.fenceline.spi.LockStore;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Opens a store: checks the format of what is there, and asks what the shortest lease is. */
final class StoreOpener {
  private static final String FORMAT = "1";

  private StoreOpener() {}

  static LockStore open(EtcdClient etcd, String root) {
    Layout layout = new Layout(root);
    boolean opened = false;
    try {
      Duration shortest =
          checkFormat(etcd, layout)
              // At the same time: each goes by a connection of its own, which has to be made.
              .thenCombine(shortestLease(etcd), (ok, lease) -> lease)
              .get(etcd.context().connectTimeout().toMillis(), TimeUnit.MILLISECONDS);
      LockStore store = new EtcdStore(etcd, layout, shortest);
      opened = true;
      return store;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw etcd.unavailable("Interrupted while connecting", e);
    } catch (TimeoutException e) {
      throw etcd.unavailable(
          "No server answered within %s; check host, port and TLS, and that it runs"
              .formatted(Durations.show(etcd.context().connectTimeout())),
          e);
    } catch (ExecutionException e) {
      Throwable cause = Causes.unwrap(e.getCause() == null ? e : e.getCause());
      throw etcd.told("Connecting" + needing(cause, layout), cause);
    } finally {
      if (!opened) {
        etcd.close();
      }
    }
  }

  private static String needing(Throwable cause, Layout layout) {
    return String.valueOf(cause.getMessage()).contains("permission denied")
        ? ", which needs readwrite on the key %s and on the prefix %s,"
            .formatted(
                layout.format().toString(StandardCharsets.UTF_8),
                layout.names("").toString(StandardCharsets.UTF_8))
        : "";
  }

  /** Says which format is there, the first one to come; fails if it is another than ours. */
  static CompletableFuture<Boolean> checkFormat(EtcdClient etcd, Layout layout) {
    ByteSequence format = ByteSequence.from(FORMAT, StandardCharsets.UTF_8);
    return etcd.txn(
            new Cmp(layout.format(), Cmp.Op.EQUAL, CmpTarget.createRevision(0)),
            List.of(Op.put(layout.format(), format, PutOption.DEFAULT)),
            List.of(Op.get(layout.format(), GetOption.DEFAULT)))
        .thenApply(
            answer -> {
              if (!answer.isSucceeded()) {
                String found =
                    answer
                        .getGetResponses()
                        .get(0)
                        .getKvs()
                        .get(0)
                        .getValue()
                        .toString(StandardCharsets.UTF_8);
                if (!found.equals(FORMAT)) {
                  throw new CompletionException(
                      new StoreRefusedException(
                          "The locks there have format %s, and this version of Fenceline knows format %s; use the same version everywhere (store=%s)"
                              .formatted(found, FORMAT, etcd.description()),
                          null));
                }
              }
              return true;
            });
  }

  /** The server raises shorter times to live to what an election may take. */
  private static CompletableFuture<Duration> shortestLease(EtcdClient etcd) {
    return etcd.grant(1, etcd.context().connectTimeout())
        .thenApply(
            granted -> {
              etcd.revoke(granted.getID());
              return Duration.ofSeconds(granted.getTTL());
            });
  }
}
