package io.fenceline.redis.connection;

/** A request was not answered, or could not be sent, before its time or its connection was over. */
public final class NoAnswerException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final boolean sent;

  private NoAnswerException(String message, boolean sent) {
    super(message, null, false, false);
    this.sent = sent;
  }

  /** The server may or may not have done it. */
  static NoAnswerException afterSending(String message) {
    return new NoAnswerException(message, true);
  }

  /** The server has surely not done it. */
  static NoAnswerException unsent(String message) {
    return new NoAnswerException(message, false);
  }

  public boolean wasSent() {
    return sent;
  }
}
