package io.fenceline.cli.run;

/** Is shown what a command prints. */
public interface Printed {

  /**
   * Is called by one thread for each of the two streams.
   *
   * @param isError whether it is on stderr
   * @param buffer is used again afterwards
   */
  void add(boolean isError, byte[] buffer, int length);
}
