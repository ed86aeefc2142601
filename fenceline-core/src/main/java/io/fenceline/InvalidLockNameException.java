package io.fenceline;

import io.fenceline.spi.LockNames;

/** A lock name that is empty, too long, or has characters that no name may have. */
public final class InvalidLockNameException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  private final String shownName;
  private final int bytes;

  /** Says what is wrong with the name. */
  public InvalidLockNameException(String shownName, int bytes, String problem) {
    super(
        "Lock name '%s' is not allowed: %s (bytes=%d, limit=%d)"
            .formatted(shownName, problem, bytes, LockNames.MAX_BYTES));
    this.shownName = shownName;
    this.bytes = bytes;
  }

  /** The name, with control characters escaped and cut where it is long. */
  public String shownName() {
    return shownName;
  }

  /** Its length in bytes of UTF-8. */
  public int bytes() {
    return bytes;
  }
}
