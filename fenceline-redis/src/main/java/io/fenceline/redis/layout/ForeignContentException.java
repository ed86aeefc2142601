package io.fenceline.redis.layout;

/** What a server has kept is not what we write. */
public final class ForeignContentException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  ForeignContentException(String what) {
    super(what, null, false, false);
  }
}
