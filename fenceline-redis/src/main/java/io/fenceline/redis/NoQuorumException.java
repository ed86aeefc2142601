package io.fenceline.redis;

import io.fenceline.redis.redlock.NodeReport;
import io.fenceline.settings.Durations;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Too few nodes of a Redlock did what they were asked for; the cause of a {@link
 * io.fenceline.StoreUnavailableException}.
 */
public final class NoQuorumException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int needed;
  private final transient List<NodeAnswer> answers;

  /**
   * What one node said.
   *
   * @param node its address
   * @param answer its answer, in words, or why there is none
   * @param took how long that took
   */
  public record NodeAnswer(String node, String answer, Duration took) {
    @Override
    public String toString() {
      return node + " " + answer + " (" + Durations.show(took) + ")";
    }
  }

  private NoQuorumException(int needed, List<NodeAnswer> answers) {
    super(
        answers.stream()
            .map(NodeAnswer::toString)
            .collect(
                Collectors.joining("; ", "needed " + needed + " of " + answers.size() + ": ", "")),
        null,
        false,
        false);
    this.needed = needed;
    this.answers = List.copyOf(answers);
  }

  static NoQuorumException of(int needed, List<NodeReport> reports) {
    return new NoQuorumException(
        needed,
        reports.stream()
            .map(report -> new NodeAnswer(report.address(), report.answer(), report.took()))
            .toList());
  }

  /** How many nodes had to do it. */
  public int needed() {
    return needed;
  }

  /** What each node said, in the order of the address; empty after deserialization. */
  public List<NodeAnswer> answers() {
    return answers == null ? List.of() : answers;
  }
}
