package io.fenceline.jdbc;

import java.io.PrintWriter;
import java.io.StringWriter;

/** Everything that an error would show in a log. */
public final class Throwables {
  private Throwables() {}

  public static String all(Throwable e) {
    StringWriter text = new StringWriter();
    e.printStackTrace(new PrintWriter(text));
    return text.toString();
  }
}
