package io.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.Grant;
import io.fenceline.spi.HeldGrant;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Obstacle;
import io.fenceline.spi.Owner;
import io.fenceline.spi.StoreContext;
import io.fenceline.testkit.ManualTime;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A claim that is asked of a store itself, and what was heard of it. */
public final class Heard implements ClaimHandler {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final SecureRandom RANDOM = new SecureRandom();

  public final ClaimRequest request;
  public final List<Grant> granted = new ArrayList<>();
  public int waiting;

  public Heard(LockStore store, String name, Mode mode, Duration lease) {
    request = new ClaimRequest(name, Owner.draw(RANDOM), mode, lease, Duration.ZERO, true);
    store.claim(request, this);
  }

  /** A store whose timers fire when the test says so. */
  public static LockStore open(String url, ManualTime time) {
    StoreContext context =
        new StoreContext(new ClientInfo("test", "host", 1), time, RANDOM, PATIENCE, PATIENCE);
    return JdbcStores.at(url).open(context);
  }

  /** Who of all who wait for these names seems to have the turn. */
  public static List<Owner> inTurn(LockStore store, List<String> names) {
    return ((JdbcStore) store).waiters.queues().turn(names).first();
  }

  /** Tells the database that these are alive; gives who is still in a queue. */
  public static Set<Owner> beat(LockStore store, List<Owner> owners, List<String> names) {
    return ((JdbcStore) store).waiters.queues().beat(owners, names).alive();
  }

  /** Whether those who wait hear of it when it is their turn. */
  public static boolean isTold(LockStore store) {
    return ((JdbcStore) store).waiters.isTold();
  }

  /** Deletes what has not been used for long; gives how many names were forgotten. */
  public static int clean(LockStore store) {
    return ((JdbcStore) store).sweeper.clean();
  }

  /** What it was granted. */
  public HeldGrant grant() {
    assertThat(granted).hasSize(1);
    return new HeldGrant(request, granted.get(0).number());
  }

  /** Hears, and does nothing. */
  public static final class Nothing implements ClaimHandler {
    @Override
    public void granted(Grant grant) {}

    @Override
    public void waiting(Obstacle obstacle) {}

    @Override
    public void refused(Obstacle obstacle) {}

    @Override
    public void failed(RuntimeException cause) {
      throw cause;
    }
  }

  @Override
  public void granted(Grant grant) {
    granted.add(grant);
  }

  @Override
  public void waiting(Obstacle obstacle) {
    waiting++;
  }

  @Override
  public void refused(Obstacle obstacle) {
    throw new AssertionError("refused");
  }

  @Override
  public void failed(RuntimeException cause) {
    throw cause;
  }
}
