package io.fenceline.fence;

import io.fenceline.FencingToken;

/** The decision of a fence about one write. */
public sealed interface FenceEvent {

  /** Returns the kind of the fence, such as {@code memory} or {@code redis}. */
  String fence();

  /** Returns the name of the resource. */
  String resource();

  /** Returns the token of the writer. */
  FencingToken token();

  /**
   * A token passed. In a transaction of the caller, the write itself must still be committed.
   *
   * @param fence which kind of fence decided
   * @param resource what was written
   * @param token the token that the writer came with
   */
  record Accepted(String fence, String resource, FencingToken token) implements FenceEvent {}

  /**
   * A stale token was refused.
   *
   * @param fence which kind of fence decided
   * @param resource what it wanted to write
   * @param token the token that it came with
   * @param accepted the larger token that has passed before
   */
  record Refused(String fence, String resource, FencingToken token, long accepted)
      implements FenceEvent {}
}
