package io.fenceline.metrics;

/** What an observer may know of a hold. */
public interface HoldFacts {

  /** The lock. */
  String name();

  /** The hold's public id; computed at each call, which takes about a microsecond. */
  String id();

  /** Its token. */
  long token();
}
