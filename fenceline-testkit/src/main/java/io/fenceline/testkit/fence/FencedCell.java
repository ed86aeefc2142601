package io.fenceline.testkit.fence;

import io.fenceline.FencingToken;
import io.fenceline.StaleTokenException;

/** One value behind a fence: what a fence is tested with. */
public interface FencedCell {

  /**
   * Writes the value, or is refused; check and write are one step.
   *
   * @throws StaleTokenException if the token was overtaken
   */
  void write(String value, FencingToken token);

  /** Returns the value, or an empty text if there is none. */
  String read();
}
