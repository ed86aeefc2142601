package io.fenceline.jdbc;

import io.fenceline.FencelineException;
import io.fenceline.StoreUnavailableException;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Turns the driver's errors into ours: with a meaning, and without secrets. */
final class Errors {
  private final String store;
  private final Dialect dialect;
  private final List<String> secrets;

  /**
   * Errors of one store.
   *
   * @param secrets texts that must not be shown, such as the password
   */
  Errors(String store, Dialect dialect, List<String> secrets) {
    this.store = store;
    this.dialect = dialect;
    this.secrets = secrets.stream().filter(secret -> !secret.isEmpty()).toList();
  }

  FencelineException of(String what, Exception e) {
    if (e instanceof FencelineException own) {
      return own;
    }
    if (!(e instanceof SQLException failure)) {
      return new StoreUnavailableException(store, what + ": " + shown(e), harmless(e));
    }
    String meaning = dialect.meaning(failure);
    String why = meaning == null ? shown(failure) : meaning + " [" + shown(failure) + "]";
    return new StoreUnavailableException(store, what + ": " + why, harmless(failure));
  }

  FencelineException closed() {
    return new StoreUnavailableException(store, "The store is closed", null);
  }

  private String shown(Throwable e) {
    return hide(String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
  }

  private String hide(String text) {
    String hidden = text;
    for (String secret : secrets) {
      hidden = hidden.replace(secret, "***");
    }
    return hidden;
  }

  /** The error as a cause, unless a secret is in it or in one of its own causes. */
  private @Nullable Throwable harmless(Throwable e) {
    Throwable cause = e;
    for (int depth = 0; cause != null && depth < 20; depth++) {
      String text = cause.toString();
      if (!hide(text).equals(text)) {
        return null;
      }
      cause = cause.getCause();
    }
    return e;
  }
}
