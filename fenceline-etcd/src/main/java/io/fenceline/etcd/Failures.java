package io.fenceline.etcd;

import io.etcd.jetcd.common.exception.EtcdException;
import io.fenceline.FencelineException;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.Causes;
import io.grpc.Status;
import org.jspecify.annotations.Nullable;

/** Translates the errors of jetcd and gRPC to ours. */
final class Failures {
  /** The lease that a request names does not exist: it was not done. */
  static final class LeaseGoneException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    LeaseGoneException() {
      super("the lease is gone", null, false, false);
    }
  }

  /** The server said no: it was not done. */
  static final class RejectedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RejectedException(String why, Throwable cause) {
      super(why, cause, false, false);
    }
  }

  private Failures() {}

  /** Returns what an answer says: whether the request may have been done, and if not, why. */
  static RuntimeException of(String store, Throwable failure) {
    Throwable cause = Causes.unwrap(failure);
    Status status = status(cause);
    String described = status.getDescription();
    // A login that failed is told by its cause only.
    String said = described == null ? said(root(cause)) : described;
    if (status.getCode() == Status.Code.NOT_FOUND) {
      return new LeaseGoneException();
    }
    if (isRefusal(status.getCode(), said)) {
      return new RejectedException(said, cause);
    }
    return new StoreUnavailableException(
        store, silence(status.getCode() + ", " + firstLine(said) + behind(cause)), cause);
  }

  private static String silence(String said) {
    if (said.contains("etcdserver:")) {
      return "etcd can't work now: " + said;
    } else if (said.contains("Connection refused")) {
      return "etcd gave no answer: nothing listens there; check host and port, and that it runs ["
          + said
          + "]";
    } else if (said.contains("unresolved address")) {
      return "etcd gave no answer: the host is not known; check the address [" + said + "]";
    }
    String advice = ofTls(said);
    return "etcd gave no answer: " + (advice == null ? said : advice + " [" + said + "]");
  }

  private static @Nullable String ofTls(String said) {
    if (said.contains("TLS negotiation") || said.contains("not an SSL/TLS record")) {
      return "the server does not speak TLS; check the port, or leave tls out";
    } else if (said.contains("certification path") || said.contains("PKIX")) {
      return "the server's certificate is not trusted; name its authority with ca";
    } else if (said.contains("alert: bad_certificate") || said.contains("certificate_required")) {
      return "the server wants a certificate of its clients; name one with cert and key";
    } else if (said.contains("Network closed for unknown reason")
        || said.contains("protocol negotiation")
        || said.contains("channel closed")
        || said.contains("ClosedChannelException")
        || said.contains("Connection reset")) {
      return "the server closed the connection; check that it runs, and that both sides speak TLS (ca, cert, key) or neither";
    }
    return null;
  }

  /** Netty puts its pipeline below. */
  private static String firstLine(String said) {
    return said.lines().findFirst().orElse("");
  }

  /** The reason that gRPC has, and does not tell: "io exception", and no more. */
  private static String behind(Throwable cause) {
    Throwable root = root(cause);
    return root == cause || said(cause).contains(said(root)) ? "" : ": " + said(root);
  }

  private static Throwable root(Throwable cause) {
    Throwable root = cause;
    for (int depth = 0; root.getCause() != null && depth < 20; depth++) {
      root = root.getCause();
    }
    return root;
  }

  private static String said(Throwable failure) {
    String message = failure.getMessage();
    return message == null ? failure.getClass().getSimpleName() : message;
  }

  /**
   * Returns what a request failed with, for the runtime. What is refused for good was not done; a
   * token that has run out, or too many requests at once, is no such refusal.
   */
  static RuntimeException told(String store, String what, Throwable failure) {
    Throwable cause = Causes.unwrap(failure);
    if (cause instanceof FencelineException known) {
      return known;
    }
    String said = String.valueOf(cause.getMessage());
    String advice = advice(said);
    return cause instanceof RejectedException && advice != null
        ? new StoreRefusedException(
            "%s failed: %s [%s] (store=%s)".formatted(what, advice, said, store), cause)
        : new StoreUnavailableException(store, what + " failed: " + said, cause);
  }

  private static @Nullable String advice(String said) {
    if (said.contains("permission denied")) {
      return "the user lacks a right; grant it readwrite on the prefix, see docs/least-rights.md";
    } else if (said.contains("invalid user ID or password")
        || said.contains("user name is empty")) {
      return "etcd refused the login; check user and password";
    } else if (said.contains("database space exceeded")) {
      return "etcd's space is used up; compact and defragment it, or raise its quota";
    } else if (said.contains("authentication is not enabled")) {
      return "etcd knows no users; leave user and password out";
    }
    return null;
  }

  /**
   * Whether the server itself has refused; gRPC gives some of these codes for reasons of its own.
   */
  private static boolean isRefusal(Status.Code code, String said) {
    return switch (code) {
      case UNAUTHENTICATED -> true;
      case PERMISSION_DENIED,
          INVALID_ARGUMENT,
          RESOURCE_EXHAUSTED,
          FAILED_PRECONDITION,
          OUT_OF_RANGE ->
          said.startsWith("etcdserver:");
      default -> false;
    };
  }

  private static Status status(Throwable cause) {
    if (cause instanceof EtcdException own) {
      return Status.fromCode(Status.Code.valueOf(own.getErrorCode().name()))
          .withDescription(own.getMessage());
    }
    return Status.fromThrowable(cause);
  }
}
