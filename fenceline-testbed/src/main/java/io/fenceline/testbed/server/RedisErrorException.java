package io.fenceline.testbed.server;

/** Redis answered a command with an error; the message is Redis's own. */
public final class RedisErrorException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  RedisErrorException(String message) {
    super(message);
  }
}
