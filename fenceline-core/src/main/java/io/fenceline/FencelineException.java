package io.fenceline;

import org.jspecify.annotations.Nullable;

/** What all of Fenceline's own exceptions have in common: none is checked, all carry figures. */
public abstract class FencelineException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  FencelineException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
