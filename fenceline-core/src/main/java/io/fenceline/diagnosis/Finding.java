package io.fenceline.diagnosis;

import java.util.Objects;

/**
 * Something that was found when a store was looked over: a fact, what it means for locks, and what
 * to do about it.
 *
 * @param check what was looked at, in a word or two, such as {@code eviction}; the same each time
 * @param severity how bad it is
 * @param found the fact, with figures
 * @param meaning what it means for locks
 * @param advice what to do; empty where nothing has to be done
 */
public record Finding(
    String check, Severity severity, String found, String meaning, String advice) {

  /** How bad a finding is. */
  public enum Severity {
    /** As it should be. */
    OK,
    /** Worth knowing; locks are as safe as the store's guarantees say. */
    NOTE,
    /** Locks can be lost, or be given twice, where the guarantees say that they are not. */
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

  /** Something that is as it should be. */
  public static Finding ok(String check, String found, String meaning) {
    return new Finding(check, Severity.OK, found, meaning, "");
  }

  /** Something worth knowing. */
  public static Finding note(String check, String found, String meaning, String advice) {
    return new Finding(check, Severity.NOTE, found, meaning, advice);
  }

  /** Something that has to be put right. */
  public static Finding serious(String check, String found, String meaning, String advice) {
    return new Finding(check, Severity.SERIOUS, found, meaning, advice);
  }
}
