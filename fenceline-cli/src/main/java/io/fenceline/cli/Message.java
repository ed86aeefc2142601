package io.fenceline.cli;

/** Lines on stderr, all alike. */
public final class Message {
  private Message() {}

  /** Prints one line. */
  public static void print(String text) {
    System.err.println("fenceline: " + text);
    System.err.flush();
  }
}
