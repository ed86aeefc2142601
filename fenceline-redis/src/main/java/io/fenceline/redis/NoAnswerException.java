package io.fenceline.redis;

/** A request was not answered, or could not be sent, before its time was over. */
final class NoAnswerException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  NoAnswerException(String message) {
    super(message, null, false, false);
  }
}
