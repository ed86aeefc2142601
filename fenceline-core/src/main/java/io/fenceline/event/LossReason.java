package io.fenceline.event;

/** Why a hold is no longer valid. */
public enum LossReason {
  /** Its lease ended by the local clock: it was not renewed in time, or has a fixed lease. */
  EXPIRED("its lease ended by the local clock"),
  /**
   * The store reports that the grant is gone: it expired there, was forgotten, or was released by
   * force.
   */
  GONE("the store no longer knows the grant"),
  /** The client was closed while it was held. */
  CLIENT_CLOSED("the client was closed");

  private final String meaning;

  LossReason(String meaning) {
    this.meaning = meaning;
  }

  /** Returns the reason in words, for messages. */
  public String meaning() {
    return meaning;
  }
}
