package io.fenceline.testbed.proxy;

import org.jspecify.annotations.Nullable;

/**
 * A message of the client.
 *
 * @param bytes to be passed on
 * @param kind what to count it as
 * @param request the request that it completes, or null if it completes none
 * @param replyKey what the reply will carry, or null if there will be none
 */
@SuppressWarnings("ArrayRecordComponent") // passed on, never compared
record FromClient(byte[] bytes, String kind, @Nullable Frame request, @Nullable Object replyKey) {

  /** A message that no reply belongs to. */
  static FromClient unanswered(byte[] bytes, Frame frame) {
    return new FromClient(bytes, frame.kind(), frame, null);
  }

  static FromClient request(byte[] bytes, Frame frame, Object replyKey) {
    return new FromClient(bytes, frame.kind(), frame, replyKey);
  }

  /** A message that more must follow before it is a request. */
  static FromClient part(byte[] bytes, String kind) {
    return new FromClient(bytes, kind, null, null);
  }
}
