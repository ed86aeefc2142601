package io.fenceline;

/** A name was claimed in two ways at once, such as a lock and a semaphore; nothing was taken. */
public final class ModeConflictException extends FencelineException {
  private static final long serialVersionUID = 1L;

  private final String name;
  private final String claimed;
  private final String inUse;

  /** Names both ways. */
  public ModeConflictException(String name, String claimed, String inUse) {
    super(
        "Lock '%s' was claimed as a %s, but is in use as a %s. A name has one kind and one number of permits while anyone holds it or waits."
            .formatted(name, claimed, inUse),
        null);
    this.name = name;
    this.claimed = claimed;
    this.inUse = inUse;
  }

  /** Which name. */
  public String name() {
    return name;
  }

  /** What was claimed, such as {@code semaphore of 3}. */
  public String claimed() {
    return claimed;
  }

  /** What the name is in use as, such as {@code semaphore of 5}. */
  public String inUse() {
    return inUse;
  }
}
