package io.fenceline.diagnosis;

/** Whether a guarantee holds that depends on the settings of a server. */
public enum Certainty {
  /** The guarantee holds. */
  YES,
  /** The guarantee does not hold. */
  NO,
  /** Unknown: the settings could not be read, or no client has connected yet. */
  UNKNOWN
}
