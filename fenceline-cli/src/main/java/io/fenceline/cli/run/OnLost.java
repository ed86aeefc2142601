package io.fenceline.cli.run;

/** What happens to the command when its lock is about to be lost, or is. */
public enum OnLost {
  /** TERM while there is time to clean up, KILL just before the lease ends. */
  KILL,
  /** TERM only; a command that ignores it goes on. */
  TERM,
  /** Nothing but a message. */
  WARN
}
