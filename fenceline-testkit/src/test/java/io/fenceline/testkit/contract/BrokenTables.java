package io.fenceline.testkit.contract;

import io.fenceline.memory.LockTable;
import io.fenceline.spi.ClaimAnswer;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.HeldGrant;
import io.fenceline.spi.Mode;
import io.fenceline.spi.NameState;
import io.fenceline.spi.Release;
import io.fenceline.spi.ReleaseRequest;
import io.fenceline.spi.RenewRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/** Servers that break the contract, each in one way that a careless store might. */
final class BrokenTables {
  private static final Duration EVER = Duration.ofDays(36_500);

  private BrokenTables() {}

  /** A server that is as it should be; the others start from here. */
  static class Sound extends LockTable {
    Sound(LongSupplier clock) {
      super(clock, EVER, EVER);
    }

    final boolean holds(ClaimRequest claim) {
      return inspect(claim.name()).holders().stream()
          .anyMatch(holder -> holder.id().equals(claim.owner().id()));
    }

    final boolean waits(ClaimRequest claim) {
      return inspect(claim.name()).waiters().stream()
          .anyMatch(waiter -> waiter.id().equals(claim.owner().id()));
    }

    final long heldNumber(String name) {
      List<NameState.Holder> holders = inspect(name).holders();
      return holders.isEmpty() ? 0 : holders.get(0).number();
    }

    static ClaimRequest with(ClaimRequest claim, Mode mode, Duration lease, Duration delay) {
      return new ClaimRequest(
          claim.name(), claim.owner(), mode, lease, delay, claim.waits(), claim.fixed());
    }
  }

  static final class ReleaseWithoutOwnerCheck extends Sound {
    ReleaseWithoutOwnerCheck(LongSupplier clock) {
      super(clock);
    }

    @Override
    public Release release(ReleaseRequest request) {
      Release own = super.release(request);
      String name = request.grant().claim().name();
      return own == Release.RELEASED || forceRelease(name, heldNumber(name))
          ? Release.RELEASED
          : Release.GONE;
    }
  }

  static final class TokenReusedAfterExpiry extends Sound {
    private boolean released = true;

    TokenReusedAfterExpiry(LongSupplier clock) {
      super(clock);
    }

    @Override
    public Release release(ReleaseRequest request) {
      Release answer = super.release(request);
      released |= answer == Release.RELEASED;
      return answer;
    }

    @Override
    protected long nextNumber(long lastNumber, long nowMillis) {
      long number = released ? super.nextNumber(lastNumber, nowMillis) : lastNumber;
      released = false;
      return number;
    }
  }

  static final class NumbersStartAnewWithAName extends Sound {
    private boolean forgotten;

    NumbersStartAnewWithAName(LongSupplier clock) {
      super(clock);
    }

    @Override
    public ClaimAnswer claim(ClaimRequest claim, ClientInfo client) {
      forgotten = inspect(claim.name()).holders().isEmpty();
      return super.claim(claim, client);
    }

    @Override
    protected long nextNumber(long lastNumber, long nowMillis) {
      return forgotten ? 1 : super.nextNumber(lastNumber, nowMillis);
    }
  }

  static final class RenewsTheDead extends Sound {
    RenewsTheDead(LongSupplier clock) {
      super(clock);
    }

    @Override
    public boolean renew(RenewRequest request) {
      boolean unused = super.renew(request);
      return true;
    }
  }

  static final class RenewsInWordsOnly extends Sound {
    RenewsInWordsOnly(LongSupplier clock) {
      super(clock);
    }

    @Override
    public boolean renew(RenewRequest request) {
      return holds(request.grant().claim());
    }
  }

  static final class WithdrawnWaiterIsGranted extends Sound {
    WithdrawnWaiterIsGranted(LongSupplier clock) {
      super(clock);
    }

    @Override
    public void withdraw(ClaimRequest claim) {
      if (!waits(claim)) {
        super.withdraw(claim);
      }
    }
  }

  /** Takes the end of a waiter for the end of the holder that it waited for. */
  static final class WaiterThatLeavesLetsTheNextIn extends Sound {
    WaiterThatLeavesLetsTheNextIn(LongSupplier clock) {
      super(clock);
    }

    @Override
    public void withdraw(ClaimRequest claim) {
      boolean waited = waits(claim);
      super.withdraw(claim);
      if (waited) {
        forceRelease(claim.name(), heldNumber(claim.name()));
      }
    }
  }

  static final class WithdrawLeavesTheGrant extends Sound {
    WithdrawLeavesTheGrant(LongSupplier clock) {
      super(clock);
    }

    @Override
    public void withdraw(ClaimRequest claim) {
      if (waits(claim)) {
        super.withdraw(claim);
      }
    }
  }

  static final class SharedAdmitsAWriter extends Sound {
    SharedAdmitsAWriter(LongSupplier clock) {
      super(clock);
    }

    @Override
    public ClaimAnswer claim(ClaimRequest claim, ClientInfo client) {
      boolean read =
          inspect(claim.name()).holders().stream().anyMatch(h -> h.mode() == Mode.SHARED);
      boolean writes = claim.mode() == Mode.EXCLUSIVE;
      return super.claim(
          read && writes ? with(claim, Mode.SHARED, claim.lease(), claim.delay()) : claim, client);
    }
  }

  static final class PermitsExceedTheirNumber extends Sound {
    PermitsExceedTheirNumber(LongSupplier clock) {
      super(clock);
    }

    @Override
    public ClaimAnswer claim(ClaimRequest claim, ClientInfo client) {
      return super.claim(
          claim.mode() instanceof Mode.Permits permits
              ? with(claim, Mode.permits(1, permits.total()), claim.lease(), claim.delay())
              : claim,
          client);
    }
  }

  static final class LastComeFirstServed extends Sound {
    private record Waiting(ClaimRequest claim, ClientInfo client) {}

    private final List<Waiting> queue = new ArrayList<>();

    LastComeFirstServed(LongSupplier clock) {
      super(clock);
    }

    @Override
    public ClaimAnswer claim(ClaimRequest claim, ClientInfo client) {
      boolean known = waits(claim);
      ClaimAnswer answer = super.claim(claim, client);
      if (answer instanceof ClaimAnswer.Waiting && !known) {
        queue.removeIf(earlier -> !waits(earlier.claim));
        for (Waiting earlier : queue) {
          if (earlier.claim.name().equals(claim.name())) {
            super.withdraw(earlier.claim);
            ClaimAnswer unused = super.claim(earlier.claim, earlier.client);
          }
        }
        queue.add(0, new Waiting(claim, client));
      }
      return answer;
    }
  }

  static final class RefusedTryStaysInTheQueue extends Sound {
    RefusedTryStaysInTheQueue(LongSupplier clock) {
      super(clock);
    }

    @Override
    public ClaimAnswer claim(ClaimRequest claim, ClientInfo client) {
      ClaimRequest waiting =
          new ClaimRequest(
              claim.name(), claim.owner(), claim.mode(), claim.lease(), claim.delay(), true);
      ClaimAnswer answer = super.claim(waiting, client);
      return answer instanceof ClaimAnswer.Waiting wait && !claim.waits()
          ? new ClaimAnswer.Refused(wait.obstacle())
          : answer;
    }
  }

  static final class RepeatGetsANewNumber extends Sound {
    RepeatGetsANewNumber(LongSupplier clock) {
      super(clock);
    }

    @Override
    public ClaimAnswer claim(ClaimRequest claim, ClientInfo client) {
      if (holds(claim)) {
        withdraw(claim);
      }
      return super.claim(claim, client);
    }
  }

  static final class RepeatIsRefused extends Sound {
    RepeatIsRefused(LongSupplier clock) {
      super(clock);
    }

    @Override
    public ClaimAnswer claim(ClaimRequest claim, ClientInfo client) {
      if (holds(claim)) {
        return new ClaimAnswer.Refused(io.fenceline.spi.Obstacle.UNKNOWN);
      }
      return super.claim(claim, client);
    }
  }

  static final class DelayIsIgnored extends Sound {
    DelayIsIgnored(LongSupplier clock) {
      super(clock);
    }

    @Override
    public ClaimAnswer claim(ClaimRequest claim, ClientInfo client) {
      return super.claim(with(claim, claim.mode(), claim.lease(), Duration.ZERO), client);
    }
  }

  static final class LeaseNeverEnds extends Sound {
    LeaseNeverEnds(LongSupplier clock) {
      super(clock);
    }

    @Override
    public ClaimAnswer claim(ClaimRequest claim, ClientInfo client) {
      ClaimAnswer answer =
          super.claim(
              with(claim, claim.mode(), claim.lease().multipliedBy(100), claim.delay()), client);
      return answer instanceof ClaimAnswer.Granted granted
          ? new ClaimAnswer.Granted(granted.number(), claim.lease())
          : answer;
    }
  }

  static final class KeepAtLeastIsIgnored extends Sound {
    KeepAtLeastIsIgnored(LongSupplier clock) {
      super(clock);
    }

    @Override
    public Release release(ReleaseRequest request) {
      return super.release(new ReleaseRequest(request.grant(), Duration.ZERO));
    }
  }

  static final class ForcedReleaseDoesNotCompare extends Sound {
    ForcedReleaseDoesNotCompare(LongSupplier clock) {
      super(clock);
    }

    @Override
    public boolean forceRelease(String name, long number) {
      return super.forceRelease(name, heldNumber(name));
    }
  }

  static final class PrefixIsAGlob extends Sound {
    PrefixIsAGlob(LongSupplier clock) {
      super(clock);
    }

    @Override
    public List<NameState> list(String prefix, int limit) {
      String regex = Pattern.quote(prefix).replace("*", "\\E.*\\Q").replace("?", "\\E.\\Q") + ".*";
      return super.list("", Integer.MAX_VALUE).stream()
          .filter(state -> state.name().matches(regex))
          .limit(limit)
          .toList();
    }
  }

  /** Keeps names other than they are. */
  static final class ChangesNames extends Sound {
    private final UnaryOperator<String> change;

    ChangesNames(LongSupplier clock, UnaryOperator<String> change) {
      super(clock);
      this.change = change;
    }

    static ChangesNames foldingCase(LongSupplier clock) {
      return new ChangesNames(clock, name -> name.toLowerCase(Locale.ROOT));
    }

    static ChangesNames stripping(LongSupplier clock) {
      return new ChangesNames(clock, String::stripTrailing);
    }

    static ChangesNames cutting(LongSupplier clock) {
      return new ChangesNames(clock, name -> name.substring(0, Math.min(name.length(), 128)));
    }

    private ClaimRequest changed(ClaimRequest claim) {
      return new ClaimRequest(
          change.apply(claim.name()),
          claim.owner(),
          claim.mode(),
          claim.lease(),
          claim.delay(),
          claim.waits(),
          claim.fixed());
    }

    private HeldGrant changed(HeldGrant grant) {
      return new HeldGrant(changed(grant.claim()), grant.number());
    }

    @Override
    public ClaimAnswer claim(ClaimRequest claim, ClientInfo client) {
      return super.claim(changed(claim), client);
    }

    @Override
    public boolean renew(RenewRequest request) {
      return super.renew(new RenewRequest(changed(request.grant()), request.lease()));
    }

    @Override
    public Release release(ReleaseRequest request) {
      return super.release(new ReleaseRequest(changed(request.grant()), request.keepClosed()));
    }

    @Override
    public void withdraw(ClaimRequest claim) {
      super.withdraw(changed(claim));
    }

    @Override
    public boolean forceRelease(String name, long number) {
      return super.forceRelease(change.apply(name), number);
    }

    @Override
    public NameState inspect(String name) {
      NameState state = super.inspect(change.apply(name));
      return new NameState(name, state.holders(), state.waiters());
    }
  }
}
