package io.fenceline.fence;

import io.fenceline.FencingToken;

/** What a fence has decided about one write. */
public sealed interface FenceEvent {

  /** Which kind of fence decided, such as {@code memory} or {@code redis}. */
  String fence();

  /** What was to be written. */
  String resource();

  /** The token that the writer came with. */
  FencingToken token();

  /**
   * A token passed. In a transaction of the caller's, the write itself still has to commit.
   *
   * @param fence which kind of fence decided
   * @param resource what was written
   * @param token the token that the writer came with
   */
  record Accepted(String fence, String resource, FencingToken token) implements FenceEvent {}

  /**
   * A writer that was overtaken was turned away.
   *
   * @param fence which kind of fence decided
   * @param resource what it wanted to write
   * @param token the token that it came with
   * @param accepted the larger token that has passed before
   */
  record Refused(String fence, String resource, FencingToken token, long accepted)
      implements FenceEvent {}
}
