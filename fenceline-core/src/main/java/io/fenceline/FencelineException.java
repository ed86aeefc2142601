package io.fenceline;

import io.fenceline.diagnosis.PlainText;
import org.jspecify.annotations.Nullable;

/**
 * The parent of Fenceline's exceptions. They are unchecked, and their figures are also fields.
 *
 * <p>Messages may quote servers and data of other clients; control characters and line breaks in
 * them are replaced, so that they can't harm a terminal or forge a line of a log.
 */
public abstract class FencelineException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  FencelineException(String message, @Nullable Throwable cause) {
    super(PlainText.of(message), cause);
  }
}
