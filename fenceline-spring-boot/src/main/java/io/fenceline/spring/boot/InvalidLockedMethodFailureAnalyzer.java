package io.fenceline.spring.boot;

import io.fenceline.spring.InvalidLockedMethodException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Shows a method that can't be locked as it is declared. */
final class InvalidLockedMethodFailureAnalyzer
    extends AbstractFailureAnalyzer<InvalidLockedMethodException> {

  @Override
  protected FailureAnalysis analyze(Throwable root, InvalidLockedMethodException cause) {
    return new FailureAnalysis(
        "@Locked on %s can't work: %s.".formatted(cause.method(), cause.problem()),
        cause.remedy() + ".",
        cause);
  }
}
