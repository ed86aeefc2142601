package io.fenceline.metrics;

/** The facts about a hold that an observer may use. */
public interface HoldFacts {

  /** Returns the name of the lock. */
  String name();

  /** Returns the hold's public id; computed at each call, which takes about a microsecond. */
  String id();

  /** Returns the token. */
  long token();
}
