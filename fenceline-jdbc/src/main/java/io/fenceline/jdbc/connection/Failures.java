package io.fenceline.jdbc.connection;

import io.fenceline.FencelineException;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.jdbc.sql.Dialect;
import io.fenceline.settings.Durations;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Turns the driver's errors into ours: with a meaning, and without secrets. */
public final class Failures {
  private final String store;
  private final Dialect dialect;
  private final List<String> secrets;

  /**
   * Errors of one store.
   *
   * @param secrets texts that must not be shown, such as the password
   */
  public Failures(String store, Dialect dialect, List<String> secrets) {
    this.store = store;
    this.dialect = dialect;
    this.secrets = secrets.stream().filter(secret -> !secret.isEmpty()).toList();
  }

  public FencelineException of(String what, Exception e) {
    if (e instanceof FencelineException own) {
      return own;
    }
    if (!(e instanceof SQLException thrown)) {
      return new StoreUnavailableException(store, what + ": " + shown(e), harmless(e));
    }
    SQLException failure = behindThePool(thrown);
    String meaning = dialect.meaning(failure);
    String why = meaning == null ? shown(failure) : meaning + " [" + shown(failure) + "]";
    if (failure instanceof Unusable || dialect.isRefusal(failure)) {
      return new StoreRefusedException(
          what + ": " + why + " (store=" + store + ")", harmless(failure));
    }
    return new StoreUnavailableException(store, what + ": " + why, harmless(failure));
  }

  /** What is found in the database can't be used, until someone mends it. */
  public static class Unusable extends SQLException {
    private static final long serialVersionUID = 1L;

    public Unusable(String why) {
      super(why);
    }

    public Unusable(String why, @Nullable SQLException cause) {
      super(why, cause);
    }
  }

  /** All connections of a data source that was given are in use, or it can't make any. */
  FencelineException noConnection(String what, Duration waited) {
    return new StoreUnavailableException(
        store,
        "%s: the data source gave no connection within %s; all of them are in use, or the server can't be reached"
            .formatted(what, Durations.show(waited)),
        null);
  }

  FencelineException closed() {
    return new StoreUnavailableException(store, "The store is closed", null);
  }

  /** A pool says that there was no connection in time, and has the server's answer as its cause. */
  private SQLException behindThePool(SQLException thrown) {
    Throwable cause = thrown;
    for (int depth = 0; cause instanceof SQLTransientConnectionException && depth < 5; depth++) {
      cause = cause.getCause();
    }
    return cause instanceof SQLException found && dialect.meaning(found) != null ? found : thrown;
  }

  private String shown(Throwable e) {
    String said = line(e);
    Throwable root = e;
    for (int depth = 0; root.getCause() != null && depth < 20; depth++) {
      root = root.getCause();
    }
    String why = line(root);
    // Of the reason why it failed, drivers often say no more than that it did.
    return hide(said.contains(why) || why.isEmpty() ? said : said + " " + why);
  }

  private static String line(Throwable e) {
    return e.getMessage() == null ? "" : e.getMessage().lines().findFirst().orElse("").strip();
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
