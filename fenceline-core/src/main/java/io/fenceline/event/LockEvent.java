package io.fenceline.event;

/** Something that happened to a lock. */
public sealed interface LockEvent
    permits Acquired,
        Contended,
        Endangered,
        HandedOff,
        HeldTooLong,
        Leaked,
        Lost,
        Refused,
        Released,
        Renewed,
        StoreFailed,
        TimedOut {

  /** Returns the name of the lock. */
  String name();
}
