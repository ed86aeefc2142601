package io.fenceline.diagnosis;

import java.util.Objects;

/**
 * A result of checking a store: a fact, what it means for locks, and what to do about it.
 *
 * @param check what was checked, in one or two words, such as {@code eviction}; never changes
 * @param severity how bad it is
 * @param found the fact, with figures
 * @param meaning what it means for locks
 * @param advice what to do; empty if nothing has to be done
 */
public record Finding(
    String check, Severity severity, String found, String meaning, String advice) {

  /** How bad a finding is. */
  public enum Severity {
    /** As it should be. */
    OK,
    /** Worth knowing; locks are as safe as the store's guarantees say. */
    NOTE,
    /** Locks can be lost or granted twice although the guarantees exclude that. */
    SERIOUS
  }

  /** Checks that nothing is missing. */
  public Finding {
    Objects.requireNonNull(check, "check");
    Objects.requireNonNull(severity, "severity");
    Objects.requireNonNull(found, "found");
    Objects.requireNonNull(meaning, "meaning");
    Objects.requireNonNull(advice, "advice");
  }

  /** Returns a finding that everything is as it should be. */
  public static Finding ok(String check, String found, String meaning) {
    return new Finding(check, Severity.OK, found, meaning, "");
  }

  /** Returns a finding that is worth knowing. */
  public static Finding note(String check, String found, String meaning, String advice) {
    return new Finding(check, Severity.NOTE, found, meaning, advice);
  }

  /** Returns a finding that has to be fixed. */
  public static Finding serious(String check, String found, String meaning, String advice) {
    return new Finding(check, Severity.SERIOUS, found, meaning, advice);
  }
}
