package io.fenceline.recipes.election;

/** Why a leader is told to stop before its task has returned. */
public enum TermEnd {
  /** The lock is lost: another leader may be at work. Stop writing. */
  LOST("the lock is lost"),
  /** {@link Candidate#resign} was called; the leadership is valid until the task has returned. */
  RESIGNED("it resigned"),
  /** The candidate is being closed; the leadership is valid until the task has returned. */
  CLOSED("the candidate is closed"),
  /** The longest term is over; the leadership is valid until the task has returned. */
  TERM_LIMIT("the longest term is over");

  private final String meaning;

  TermEnd(String meaning) {
    this.meaning = meaning;
  }

  /** Returns the reason in words, for messages. */
  public String meaning() {
    return meaning;
  }
}
