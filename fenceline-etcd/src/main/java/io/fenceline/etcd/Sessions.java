package io.fenceline.etcd;

import io.fenceline.settings.Durations;
import io.fenceline.spi.Causes;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.time.Moment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The sessions of a client: one for each lease and lock-delay that is in use, made when needed. */
final class Sessions {
  private static final Logger LOG = LoggerFactory.getLogger(Sessions.class);

  private record Terms(Duration lease, Duration delay) {}

  private final EtcdClient etcd;
  private final Layout layout;
  private final Map<Terms, Session> live = new ConcurrentHashMap<>();
  private final Consumer<ClaimKey> whenLost;

  // Guarded by this.
  private final Map<Terms, CompletableFuture<Session>> opening = new HashMap<>();
  private boolean closed;

  /**
   * None yet.
   *
   * @param whenLost hears of each key of a session that has ended
   */
  Sessions(EtcdClient etcd, Layout layout, Consumer<ClaimKey> whenLost) {
    this.etcd = etcd;
    this.layout = layout;
    this.whenLost = whenLost;
  }

  private static Terms terms(ClaimRequest request) {
    return new Terms(request.lease(), request.delay());
  }

  /** The session for a claim, if there is one that has half of its lease left. */
  @Nullable Session ready(ClaimRequest request) {
    Session session = live.get(terms(request));
    return session != null && session.isFresh() ? session : null;
  }

  /** The session for a claim: kept alive first if little is left of it, or a new one. */
  CompletableFuture<Session> open(ClaimRequest request) {
    if (request.fixed()) {
      return own(request.lease(), request.delay())
          .thenApply(
              session -> {
                session.start();
                return session;
              });
    }
    Session session = live.get(terms(request));
    if (session == null || !session.isOpen()) {
      return shared(terms(request));
    }
    if (session.isFresh()) {
      return CompletableFuture.completedFuture(session);
    }
    CompletableFuture<Moment> kept = session.keepAlive();
    return kept.handle((since, failure) -> failure)
        .thenCompose(
            failure -> {
              if (failure == null) {
                return CompletableFuture.completedFuture(session);
              }
              return session.isOpen()
                  ? CompletableFuture.failedFuture(Causes.unwrap(failure))
                  : shared(terms(request));
            });
  }

  private CompletableFuture<Session> shared(Terms terms) {
    CompletableFuture<Session> opened;
    synchronized (this) {
      Session session = live.get(terms);
      if (session != null && session.isOpen()) {
        return CompletableFuture.completedFuture(session);
      }
      CompletableFuture<Session> under = opening.get(terms);
      if (under != null) {
        return under;
      }
      opened = new CompletableFuture<>();
      opening.put(terms, opened);
    }
    grant(terms.lease, terms.delay, true)
        .whenComplete(
            (session, failure) -> {
              synchronized (this) {
                opening.remove(terms);
                if (session != null && !closed) {
                  live.put(terms, session);
                }
              }
              if (session != null) {
                session.start();
                opened.complete(session);
              } else {
                opened.completeExceptionally(Causes.unwrap(failure));
              }
            });
    return opened;
  }

  /** A session for one claim alone; not kept alive unless it is started. */
  CompletableFuture<Session> own(Duration lease, Duration delay) {
    return grant(lease, delay, false);
  }

  private CompletableFuture<Session> grant(Duration lease, Duration delay, boolean shared) {
    return ServerLease.grant(etcd, ServerLease.seconds(lease.plus(delay)))
        .thenApply(
            server ->
                new Session(
                    etcd,
                    layout,
                    server,
                    lease,
                    delay,
                    shared,
                    this::ended,
                    this::remove,
                    whenLost));
  }

  /** The next claim gets another session. */
  private void remove(Session session) {
    live.remove(new Terms(session.lease, session.delay), session);
  }

  private void ended(Session session) {
    remove(session);
    List<ClaimKey> lost = new ArrayList<>(session.claimKeys());
    // A fixed lease ends like this by itself, and its holder knows when.
    if (session.shared && !lost.isEmpty()) {
      LOG.warn(
          "A session of {} has ended with {} claims (lease={}, lastAnswer={} ago); they are lost",
          etcd.description(),
          lost.size(),
          Durations.show(session.lease),
          Durations.show(
              Duration.ofNanos(etcd.context().time().nanos() - session.server.from().nanos())));
    }
    lost.forEach(session::lost);
  }

  /** Ends all of them; what is held stays until its lease is over. */
  CompletableFuture<Void> close() {
    synchronized (this) {
      closed = true;
    }
    return CompletableFuture.allOf(
        live.values().stream().map(Session::close).toArray(CompletableFuture<?>[]::new));
  }
}
