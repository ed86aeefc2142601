package io.fenceline.settings;

/** A setting, a name or an argument that can't be used; nothing was taken. */
public final class InvalidSettingException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  private final String setting;
  private final String value;
  private final String remedy;

  /** Says what is wrong and what would be right. */
  public InvalidSettingException(String setting, Object value, String whatIsRight) {
    super(setting + " " + Durations.showAny(value) + ": " + whatIsRight);
    this.setting = setting;
    this.value = String.valueOf(value);
    this.remedy = whatIsRight;
  }

  /** Says what is wrong, apart from what to do about it. */
  public InvalidSettingException(String setting, Object value, String problem, String remedy) {
    super(setting + " " + Durations.showAny(value) + ": " + problem + ". " + remedy);
    this.setting = setting;
    this.value = String.valueOf(value);
    this.remedy = remedy;
  }

  /** Returns the name of the setting. */
  public String setting() {
    return setting;
  }

  /** Returns the rejected value, without secrets. */
  public String value() {
    return value;
  }

  /** What would be right: the end of the message. */
  public String remedy() {
    return remedy;
  }
}
