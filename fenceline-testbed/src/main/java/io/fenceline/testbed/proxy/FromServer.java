package io.fenceline.testbed.proxy;

import org.jspecify.annotations.Nullable;

/**
 * A message of the server.
 *
 * @param bytes to be passed on
 * @param replyKey names the request that it answers, or null if it answers none
 * @param push the message, if the server sent it unasked and it can be lost without harm to the
 *     stream; otherwise null
 */
@SuppressWarnings("ArrayRecordComponent") // passed on, never compared
record FromServer(byte[] bytes, @Nullable Object replyKey, @Nullable Frame push) {

  static FromServer reply(byte[] bytes, Object replyKey) {
    return new FromServer(bytes, replyKey, null);
  }

  static FromServer push(byte[] bytes, Frame frame) {
    return new FromServer(bytes, null, frame);
  }

  static FromServer other(byte[] bytes) {
    return new FromServer(bytes, null, null);
  }
}
