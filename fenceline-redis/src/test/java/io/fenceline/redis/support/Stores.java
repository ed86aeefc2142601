package io.fenceline.redis.support;

import io.fenceline.redis.RedisStores;
import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.Grant;
import io.fenceline.spi.HeldGrant;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Owner;
import io.fenceline.spi.RenewRequest;
import io.fenceline.spi.StoreContext;
import io.fenceline.testkit.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

/** Stores without a client around them, for tests that look at single requests. */
public final class Stores {
  private Stores() {}

  /** A store, and the randomness that its owners are drawn from. */
  public record Opened(LockStore store, Random random) {}

  public static Opened open(String uri) {
    return open(uri, new ManualTime());
  }

  public static Opened open(String uri, ManualTime time) {
    Random random = new Random();
    StoreContext context =
        new StoreContext(
            new ClientInfo("test", "localhost", 1),
            time,
            random,
            Duration.ofSeconds(30),
            Duration.ofSeconds(30));
    return new Opened(RedisStores.at(uri).open(context), random);
  }

  /** Claims names that are free, all at once. */
  public static List<RenewRequest> claimAll(
      Opened opened, String prefix, int count, Duration lease) {
    List<CompletableFuture<RenewRequest>> claims = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      claims.add(
          claim(
              opened,
              new ClaimRequest(
                  prefix + i,
                  Owner.draw(opened.random),
                  Mode.EXCLUSIVE,
                  lease,
                  Duration.ZERO,
                  false)));
    }
    return claims.stream().map(Clients::get).toList();
  }

  /** Claims a name that is free. */
  public static CompletableFuture<RenewRequest> claim(Opened opened, ClaimRequest request) {
    CompletableFuture<RenewRequest> held = new CompletableFuture<>();
    opened.store.claim(
        request,
        new ClaimHandler() {
          @Override
          public void granted(Grant grant) {
            held.complete(
                new RenewRequest(new HeldGrant(request, grant.number()), request.lease()));
          }

          @Override
          public void waiting(Obstacle obstacle) {}

          @Override
          public void refused(Obstacle obstacle) {
            held.completeExceptionally(new AssertionError(request.name() + " is held"));
          }

          @Override
          public void failed(RuntimeException cause) {
            held.completeExceptionally(cause);
          }
        });
    return held;
  }
}
