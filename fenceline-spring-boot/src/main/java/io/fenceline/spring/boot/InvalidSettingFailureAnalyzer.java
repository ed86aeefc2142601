package io.fenceline.spring.boot;

import io.fenceline.settings.InvalidSettingException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Shows a setting, or a method, that can't be used; its message says what would be right. */
final class InvalidSettingFailureAnalyzer extends AbstractFailureAnalyzer<InvalidSettingException> {

  @Override
  protected FailureAnalysis analyze(Throwable root, InvalidSettingException cause) {
    return cause.setting().equals("@Locked") ? ofMethod(cause) : ofSetting(cause);
  }

  private static FailureAnalysis ofMethod(InvalidSettingException cause) {
    String message = String.valueOf(cause.getMessage());
    String method = cause.setting() + " " + cause.value();
    String problem = message.substring(method.length(), message.length() - cause.remedy().length());
    return new FailureAnalysis(
        method + " can't work" + problem.strip(), cause.remedy() + ".", cause);
  }

  private static FailureAnalysis ofSetting(InvalidSettingException cause) {
    return new FailureAnalysis(
        "A setting of Fenceline can't be used: " + cause.getMessage(),
        "Correct it in the fenceline.* properties, or where the application sets it.",
        cause);
  }
}
