package io.fenceline;

import io.fenceline.spi.ClientInfo;
import org.jspecify.annotations.Nullable;

/**
 * What all of Fenceline's own exceptions have in common: none is checked, all carry figures.
 *
 * <p>Messages repeat what servers say and what others have put into a store: they have no character
 * that a terminal would obey, or that would begin a line of a log.
 */
public abstract class FencelineException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  FencelineException(String message, @Nullable Throwable cause) {
    super(ClientInfo.harmless(message), cause);
  }
}
