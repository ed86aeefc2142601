package io.fenceline.bench.work;

/** A lock let two in, or gave a token that does not rise. */
public final class BrokenLockException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  BrokenLockException(String what) {
    super(what);
  }
}
