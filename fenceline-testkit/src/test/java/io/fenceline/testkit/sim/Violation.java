package io.fenceline.testkit.sim;

import org.jspecify.annotations.Nullable;

/** Something that must always hold did not. */
final class Violation extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Invariant invariant;

  Violation(Invariant invariant, String what, @Nullable Throwable cause) {
    super(invariant + ": " + what, cause);
    this.invariant = invariant;
  }

  /** The same for violations of one kind: without names, ids and figures. */
  String kind() {
    return String.valueOf(getMessage())
        .replaceAll("[0-9a-f]{12}", "#")
        .replaceAll("(m[0-9.]+|[0-9]+)", "#")
        .replaceAll("of [abs] ", "of # ");
  }

  Invariant invariant() {
    return invariant;
  }
}
