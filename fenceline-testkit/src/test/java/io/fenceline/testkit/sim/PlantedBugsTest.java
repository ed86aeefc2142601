package io.fenceline.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.util.function.LongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What the simulation is worth: each bug, planted in the real core, breaks an invariant within
 * twenty thousand seeds. The seed that finds it is remembered, and tried first; a change of the
 * simulator may move it.
 */
class PlantedBugsTest {
  private static final long SEEDS = 20_000;

  static Stream<Arguments> bugs() {
    return Stream.of(
        arguments(
            PlantedBug.named("release without owner check")
                .in(
                    "memory/LockTable.java",
                    "Holder holder = entry == null ? null : entry.holder(grant.claim().owner());",
                    "Holder holder = entry == null || entry.holders.isEmpty() ? null"
                        + " : entry.holders.get(0);"),
            Invariant.I5,
            1L),
        arguments(
            PlantedBug.named("renewal that takes no answer for a good one")
                .in(
                    "runtime/Renewer.java",
                    "failed(attempt, Futures.unwrapped(failure));",
                    "attempt.lifecycle().renewed(new Renewal.Renewed(new io.fenceline.spi.Validity("
                        + "engine.time.now(), attempt.lifecycle().terms().lease())),"
                        + " attempt.sentNanos());"),
            Invariant.I2,
            19L),
        arguments(
            PlantedBug.named("renewal that ignores that the grant is gone")
                .in(
                    "runtime/GrantLifecycle.java",
                    "    } else {\n      lose(LossReason.GONE);\n    }\n",
                    "    }\n"),
            Invariant.I6,
            20L),
        arguments(
            PlantedBug.named("token reused on hand-off")
                .in("runtime/GrantLifecycle.java", "    handOffs++;\n", ""),
            Invariant.I3,
            19L),
        arguments(
            PlantedBug.named("lost wake-up")
                .in(
                    "runtime/ClaimQueue.java",
                    "    try {\n      return from.sendRelease(ended, now, here && alone);\n"
                        + "    } finally {\n      advance();\n    }\n",
                    "    return from.sendRelease(ended, now, here && alone);\n"),
            Invariant.I7,
            1L),
        arguments(
            PlantedBug.named("unknown acquire not undone")
                .in(
                    "runtime/ClaimQueue.java",
                    ".then(() -> undo(unknown ? answered : null))",
                    ".then(() -> undo(null))"),
            Invariant.I7,
            417L),
        arguments(
            PlantedBug.named("undo that hits a later acquire of the same client")
                .in(
                    "runtime/RemoteClaim.java",
                    "Owner.draw(engine.random),",
                    "Owner.draw(new java.util.SplittableRandom(engine.info.label().hashCode())),"),
            Invariant.I2,
            9L),
        arguments(
            PlantedBug.named("validity counted from the reply")
                .in(
                    "spi/QueuedClaim.java",
                    "answer.tell(handler, sent);",
                    "answer.tell(handler, context.time().now());"),
            Invariant.I2,
            6L),
        arguments(
            PlantedBug.named("deadline of a pushed grant counted from its arrival")
                .in("spi/QueuedClaim.java", "from = lastWaiting;", "from = context.time().now();"),
            Invariant.I2,
            100L),
        arguments(
            PlantedBug.named("undo overtaken by its acquire and never repeated")
                .in(
                    "runtime/ClaimQueue.java",
                    "      if (handle == null && answered.mustUndo(grant.number())) {",
                    "      if (handle == null && answered == null) {"),
            Invariant.I7,
            736L),
        arguments(
            PlantedBug.named("release sent after the local deadline despite a lock-delay")
                .in(
                    "runtime/GrantLifecycle.java",
                    "    if (expired && request.keepClosed().isZero()) {",
                    "    if (expired) {"),
            Invariant.DELAY,
            11L),
        arguments(
            PlantedBug.named("loss listener before the state changes")
                .in(
                    "runtime/CallerHold.java",
                    "    loss = how;\n    state = State.LOST;\n    return true;",
                    "    loss = how;\n    lifecycle.engine().work(() -> state = State.LOST);\n"
                        + "    return true;"),
            Invariant.I6,
            9L),
        arguments(
            PlantedBug.named("hand-off after loss")
                .in(
                    "runtime/GrantLifecycle.java",
                    "    noticeExpiry(now);\n    CallerHold left",
                    "    CallerHold left")
                .in(
                    "runtime/GrantLifecycle.java",
                    "        state == State.LIVE\n"
                        + "            && lease.runsAt(now)\n"
                        + "            && lease.isFreshAt(now)\n"
                        + "            && terms().autoRenewal()",
                    "terms().autoRenewal()"),
            Invariant.I6,
            466L),
        arguments(
            PlantedBug.named("cancelled waiter granted and forgotten")
                .in("runtime/Waiter.java", "handle.abandon();", "handle.isOpen();"),
            Invariant.I7,
            2451L),
        arguments(
            PlantedBug.named("hand-off without bound")
                .in(
                    "runtime/GrantLifecycle.java",
                    "            && handOffs < bounds.times()\n"
                        + "            && now.nanos() - grantedNanos < bounds.within().toNanos()\n",
                    "            && bounds.times() > 0\n"),
            Invariant.I7,
            10L),
        arguments(
            PlantedBug.named("re-entry on a lost hold")
                .in(
                    "runtime/CallerHold.java",
                    "return state == State.HELD && from.isOpen() ? open(factory, Thread.currentThread()) : null;",
                    "return open(factory, Thread.currentThread());"),
            Invariant.I6,
            17L),
        arguments(
            PlantedBug.named("late renewal that shortens a newer lease")
                .in(
                    "memory/LockTable.java",
                    "if (nowMillis + term > endMillis) {",
                    "if (nowMillis + term >= 0) {"),
            Invariant.I2,
            11L),
        arguments(
            PlantedBug.named("late message about a grant that ended")
                .in(
                    "spi/QueuedClaim.java",
                    "if (number <= lastNumber.getAsLong()) {",
                    "if (number <= 0) {"),
            Invariant.I2,
            8901L),
        arguments(
            PlantedBug.named("lockAll that keeps what it has when it fails")
                .in(
                    "runtime/MultiLock.java",
                    "      giveBack(taken);\n      if (failure == null) {",
                    "      if (failure == null) {"),
            Invariant.I7,
            5L),
        arguments(
            PlantedBug.named("undo that is repeated after the close")
                .in(
                    "runtime/UnknownOutcomes.java",
                    "if (stopped || isVain) {",
                    "if ((stopped && failures < 0) || isVain) {"),
            Invariant.I7,
            57L),
        arguments(
            PlantedBug.named("release and renewal of what only keeps a name closed")
                .in(
                    "memory/LockTable.java",
                    "if (!holder.ended && holder.claim.owner().equals(owner)) {",
                    "if (holder.claim.owner().equals(owner)) {"),
            Invariant.I7,
            3505L),
        arguments(
            PlantedBug.named("loss that is noticed only when someone asks")
                .in(
                    "runtime/Renewer.java",
                    "      lifecycle.expire(now);\n",
                    "      remove(lifecycle);\n"),
            Invariant.I6,
            2L),
        arguments(
            PlantedBug.named("number that does not rise")
                .in(
                    "memory/LockTable.java",
                    "    last = nextNumber(last, now);\n",
                    "    last = nextNumber(last - 1, now);\n"),
            Invariant.I3,
            16L),
        arguments(
            PlantedBug.named("reader beside a writer")
                .in(
                    "spi/Mode.java",
                    "return held.stream().allMatch(Shared.class::isInstance);",
                    "return true;"),
            Invariant.I1,
            5L),
        arguments(
            PlantedBug.named("fence that forgets readers")
                .in(
                    "testkit/sim/Register.java",
                    "long mark = token.exclusive() ? marks.largest : marks.largestExclusive;",
                    "long mark = marks.largestExclusive;"),
            Invariant.I4,
            11L),
        arguments(
            PlantedBug.named("close of a lockAll that waits for a thread for callbacks")
                .in(
                    "runtime/MultiHandle.java",
                    "answers.add(holds.get(i).end());",
                    "answers.add(holds.get(i).releaseAsync());"),
            Invariant.I7,
            5726L),
        arguments(
            PlantedBug.named("Error of a claim that is not caught")
                .in(
                    "runtime/RemoteClaim.java",
                    "      failed(e);\n    } catch (Throwable e) {",
                    "      failed(e);\n    } catch (IllegalStateException e) {"),
            Invariant.I7,
            22L),
        arguments(
            PlantedBug.named("Error of a release that is not caught")
                .in(
                    "runtime/GrantLifecycle.java",
                    "} catch (Throwable e) { // Whatever it was,",
                    "} catch (IllegalStateException e) { // Whatever it was,"),
            Invariant.I7,
            1445L),
        arguments(
            PlantedBug.named("interruptOnLoss that lockAll ignores")
                .in(
                    "runtime/MultiLock.java",
                    "if (options.interruptsOnLoss()) {",
                    "if (options.interruptsOnLoss() && locks.isEmpty()) {"),
            Invariant.I6,
            12L),
        arguments(
            PlantedBug.named("interruptOnLoss that retries ignore")
                .in(
                    "runtime/LeaseLock.java",
                    "if (options.interruptsOnLoss()) {",
                    "if (options.interruptsOnLoss()"
                        + " && !(options.waitStrategy() instanceof WaitStrategy.Retry)) {"),
            Invariant.I6,
            937L),
        arguments(
            PlantedBug.named("loss that is told after the log line")
                .in("runtime/notice/Events.java", "log.add(() -> log(event));", "log(event);")
                .in(
                    "runtime/CallerHold.java",
                    "    for (Handle handle : told) {",
                    "    lifecycle.engine().events.tell(how);\n    for (Handle handle : told) {"),
            Invariant.I6,
            12L),
        arguments(
            PlantedBug.named("request that fails after its withdrawal, unheard")
                .in(
                    "spi/QueuedClaim.java",
                    "      asking = false;\n      end();\n    }\n",
                    "      asking = false;\n      if (over) {\n        return;\n      }\n"
                        + "      end();\n    }\n"),
            Invariant.I7,
            953L),
        arguments(
            PlantedBug.named("hold that nobody had, and that keeps its name closed")
                .in(
                    "runtime/CallerHold.java",
                    "if (atLeast.isZero() || unclaimed) {",
                    "if (atLeast.isZero()) {"),
            Invariant.I7,
            57L),
        arguments(
            PlantedBug.named("lockAll that gives what was lost on the way")
                .in(
                    "runtime/MultiLock.java",
                    "if (!taken.get(i).isValid()) {",
                    "if (!taken.get(i).isOpen()) {"),
            Invariant.SOUND,
            2L));
  }

  @ParameterizedTest(name = "{0} breaks {1}, seed {2}")
  @MethodSource("bugs")
  void aPlantedBug_isFound(PlantedBug bug, Invariant invariant, long knownSeed) {
    LongFunction<String> simulation = bug.simulation();
    if (breaks(simulation, knownSeed, invariant)) {
      return;
    }
    for (long seed = 1; seed <= SEEDS; seed++) {
      if (breaks(simulation, seed, invariant)) {
        System.out.printf("'%s' is found by seed %d now, not by %d%n", bug, seed, knownSeed);
        return;
      }
    }
    throw new AssertionError("'" + bug + "' breaks " + invariant + " in none of the seeds");
  }

  private static boolean breaks(LongFunction<String> simulation, long seed, Invariant invariant) {
    return simulation.apply(seed).startsWith(invariant + ":");
  }

  @Test
  void withoutABug_thePlanterFindsNothing() {
    LongFunction<String> simulation =
        PlantedBug.named("none")
            .in("runtime/UnknownOutcomes.java", "DOUBLINGS = 5", "DOUBLINGS = 5")
            .simulation();

    for (long seed = 1; seed <= 200; seed++) {
      assertThat(simulation.apply(seed)).as("seed %d", seed).isEmpty();
    }
  }
}
