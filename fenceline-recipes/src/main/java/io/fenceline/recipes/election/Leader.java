package io.fenceline.recipes.election;

import io.fenceline.diagnosis.LockReport;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Who leads, as the store shows it to everybody.
 *
 * <p>A statement about the moment at which the store answered: not a permission to do anything.
 *
 * @param label what the leader's client calls itself
 * @param host its machine
 * @param pid its process id
 * @param term the token of its grant, larger than that of every earlier leader
 * @param since when it was elected, by the store's clock
 * @param remaining until the office is open if the leader is not heard of
 */
public record Leader(
    String label, String host, long pid, long term, Instant since, Duration remaining) {

  static Optional<Leader> in(LockReport report) {
    return report.holders().stream()
        .findFirst()
        .map(
            holder ->
                new Leader(
                    holder.label(),
                    holder.host(),
                    holder.pid(),
                    holder.token(),
                    holder.since(),
                    holder.remaining()));
  }
}
