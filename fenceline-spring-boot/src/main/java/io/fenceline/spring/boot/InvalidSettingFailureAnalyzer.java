package io.fenceline.spring.boot;

import io.fenceline.settings.InvalidSettingException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Shows a setting that can't be used; its message says what would be right. */
final class InvalidSettingFailureAnalyzer extends AbstractFailureAnalyzer<InvalidSettingException> {

  @Override
  protected FailureAnalysis analyze(Throwable root, InvalidSettingException cause) {
    return new FailureAnalysis(
        "A setting of Fenceline can't be used: " + cause.getMessage(),
        "Correct it in the fenceline.* properties, or where the application sets it.",
        cause);
  }
}
