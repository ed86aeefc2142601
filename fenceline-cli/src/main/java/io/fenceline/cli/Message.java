package io.fenceline.cli;

import io.fenceline.cli.text.Table;

/** Lines on stderr, all alike. */
public final class Message {
  private Message() {}

  /** Prints one line; nothing in it steers the terminal. */
  public static void print(String text) {
    System.err.println("fenceline: " + Table.harmless(text));
    System.err.flush();
  }
}
