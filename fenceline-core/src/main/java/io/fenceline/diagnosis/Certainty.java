package io.fenceline.diagnosis;

/** What is known of a promise that depends on the settings of a server. */
public enum Certainty {
  /** It is given. */
  YES,
  /** It is not given. */
  NO,
  /** It can't be told: the settings could not be read, or nobody has connected yet. */
  UNKNOWN
}
