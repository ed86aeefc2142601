package io.fenceline.zookeeper.session;

import io.fenceline.FencelineException;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.Causes;
import org.apache.zookeeper.KeeperException;

/** Translates ZooKeeper's errors to ours. */
final class Failures {
  private Failures() {}

  /** Returns the exception for an answer's code; what is refused for good was not done. */
  static FencelineException of(String store, String what, KeeperException.Code code) {
    String text = what + " failed: " + explain(code);
    KeeperException cause = KeeperException.create(code);
    return isRefusal(code)
        ? new StoreRefusedException(text + " (store=" + store + ")", cause)
        : new StoreUnavailableException(store, text, cause);
  }

  /** Returns what the runtime can act on: our own exceptions as they are, others as "no answer". */
  static RuntimeException meaning(String store, Throwable failure) {
    Throwable cause = Causes.unwrap(failure);
    return cause instanceof FencelineException own
        ? own
        : new StoreUnavailableException(store, "A request failed: " + cause, cause);
  }

  private static boolean isRefusal(KeeperException.Code code) {
    return switch (code) {
      case NOAUTH, QUOTAEXCEEDED, AUTHFAILED, INVALIDACL -> true;
      default -> false;
    };
  }

  private static String explain(KeeperException.Code code) {
    return switch (code) {
      case CONNECTIONLOSS ->
          "the connection was lost, and the outcome is unknown; check that the server runs";
      case SESSIONEXPIRED -> "the session had ended; all that it held is free";
      case NOAUTH, INVALIDACL -> "this client has no permission there; check the ACL and the login";
      case AUTHFAILED -> "ZooKeeper refused the login; check user and password";
      case NOTREADONLY -> "the server may only be read now; a majority of the servers is away";
      case QUOTAEXCEEDED -> "a quota of ZooKeeper is used up; raise it";
      case NONODE ->
          "its folder is gone, and could not be made again (check the ACL of those above)";
      default -> "ZooKeeper answered " + code;
    };
  }
}
