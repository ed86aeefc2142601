package io.fenceline.redis.connection;

import io.fenceline.FencelineException;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.redis.layout.ForeignContentException;
import io.fenceline.redis.layout.Layout;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisReadOnlyException;
import io.netty.channel.ConnectTimeoutException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.security.GeneralSecurityException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** What the driver throws, in the terms of the SPI. */
public final class Failures {
  private static final Pattern HOST = Pattern.compile("'([^']+)'");
  private static final Pattern OUT_OF_MEMORY = Pattern.compile("^OOM |[ -]OOM ");

  private Failures() {}

  /** The failure itself, without what futures have wrapped around it; null for none. */
  public static @Nullable Throwable unwrapped(@Nullable Throwable failure) {
    Throwable cause = failure;
    while ((cause instanceof CompletionException || cause instanceof ExecutionException)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  /**
   * Whether a server has refused to write because it is a replica. Redis 6 says so of scripts in
   * the middle of its message: {@code ERR Error running script … -READONLY You can't write …}.
   */
  static boolean isOfAReplica(Throwable failure) {
    return failure instanceof RedisReadOnlyException
        || (failure instanceof RedisCommandExecutionException
            && String.valueOf(failure.getMessage()).contains("-READONLY "));
  }

  /**
   * Whether the driver has not taken a command, since its connection has ended; it may say so
   * before it tells of the end. Of other failures that it has no type for, such as a queue that is
   * full, the connection is not to blame.
   */
  static boolean isOfAnEndedConnection(Throwable failure) {
    return failure.getClass() == RedisException.class
        && (said(failure).startsWith("Currently not connected")
            || said(failure).startsWith("Connection is closed"));
  }

  /**
   * The exception that the runtime understands. An error that Redis answers with, and that says
   * nothing for good, is an unknown outcome too: a script that fails half-way is not rolled back.
   */
  public static RuntimeException meaning(String store, String what, @Nullable Throwable failure) {
    Throwable cause = unwrapped(failure);
    if (cause instanceof FencelineException own) {
      return own;
    }
    String text = what + " failed" + (cause == null ? "" : ": " + words(cause));
    // Whoever is the master next is found by dialing.
    boolean moves = store.startsWith("redis-") || store.startsWith("valkey-");
    return cause != null && isRefusal(cause) && !(moves && isOfAReplica(root(cause)))
        ? new StoreRefusedException(text + " (store=" + store + ")", cause)
        : new StoreUnavailableException(store, text, cause);
  }

  /** As {@link #meaning}, of something that was asked about one lock. */
  public static RuntimeException ofLock(
      String store, String what, String name, @Nullable Throwable failure) {
    Throwable cause = unwrapped(failure);
    String whole = what + " of lock '" + name + "'";
    if (cause == null || !isForeign(root(cause))) {
      return meaning(store, whole, failure);
    }
    return new StoreRefusedException(
        "%s failed: a key of it holds something that is not Fenceline's [%s]; delete %s, or use another name (store=%s)"
            .formatted(whole, said(root(cause)), Layout.headOf(name), store),
        cause);
  }

  /** Whether the server has answered, and would answer the same again until someone mends it. */
  public static boolean isRefusal(@Nullable Throwable failure) {
    Throwable root = failure == null ? null : root(failure);
    return root != null && advice(root) != null;
  }

  /** What happened, and what to do, in one line. */
  public static String words(Throwable failure) {
    Throwable root = root(failure);
    String advice = advice(root);
    if (advice != null) {
      return advice.formatted("[" + said(root) + "]");
    }
    if (root instanceof UnknownHostException) {
      Matcher host = HOST.matcher(said(root));
      String named = host.find() ? host.group(1) : said(root);
      return "the host '" + named + "' is not known; check the address";
    } else if (root instanceof ConnectTimeoutException) {
      return "the server did not answer [" + said(root) + "]; check that it can be reached";
    } else if (root instanceof ConnectException) {
      return "nothing listens there [%s]; check host and port, and that the server runs"
          .formatted(said(root));
    } else if (root instanceof SSLException || root instanceof GeneralSecurityException) {
      return ofTls(said(root));
    } else if (root instanceof ClosedChannelException || root instanceof IOException) {
      return "the server closed the connection; if it wants TLS, use rediss:// or tls=true";
    } else if (root instanceof RedisConnectionException) {
      return "the server closed the connection [%s]; if it wants TLS, use rediss:// or tls=true"
          .formatted(said(root));
    }
    return said(root);
  }

  private static String ofTls(String said) {
    if (said.contains("PKIX") || said.contains("certification path")) {
      return "the server's certificate is not trusted [%s]; name its authority with tlsCa"
          .formatted(said);
    } else if (said.contains("subject alternative") || said.contains("No name matching")) {
      return "the server's certificate is for another host [%s]; check the address, or set tlsVerify=ca"
          .formatted(said);
    } else if (said.contains("not an SSL/TLS record") || said.contains("handshake timed out")) {
      return "the server does not speak TLS [%s]; check the port, or leave TLS out".formatted(said);
    }
    return "TLS failed [%s]; check the port and the certificates".formatted(said);
  }

  /** What a refusal for good means, with a place for the server's own words; null for others. */
  private static @Nullable String advice(Throwable root) {
    if (!(root instanceof RedisCommandExecutionException)) {
      return null;
    }
    String said = said(root);
    if (said.startsWith("WRONGPASS") || said.startsWith("NOAUTH") || said.contains("AUTH <pass")) {
      return "the server does not accept the user or the password %s; check both";
    } else if (said.startsWith("NOPERM")
        || said.contains("The user executing the script can't")
        || said.contains("ACL failure in script")) {
      return "the user lacks a right %s; grant what docs/redis.md lists";
    } else if (isOfAReplica(root)) {
      return "the server is a read-only replica %s; use the master's address";
    } else if (OUT_OF_MEMORY.matcher(said).find()) {
      return "the server is out of memory %s; raise its maxmemory or free some";
    } else if (said.contains("MISCONF ")) {
      return "the server can't save to its disk %s; free space there, or see its log";
    } else if (said.contains("DB index")) {
      return "the server does not have this database %s; check the number";
    } else if (said.contains("SELECT is not allowed")) {
      return "a Cluster has one database %s; leave the number out";
    } else if (said.contains("unknown command 'SENTINEL'")) {
      return "the server is no Sentinel %s; use the port of one, or redis://";
    } else if (said.contains("cluster support disabled")) {
      return "the server is no Cluster %s; use redis://";
    } else if (said.startsWith("ERR unknown command")) {
      return "the server does not know a command %s; it is too old, or the command is turned off";
    }
    return null;
  }

  /** Whether a script stumbled over what it found: our own scripts never write such a thing. */
  public static boolean isForeign(Throwable root) {
    String said = said(root);
    return root instanceof ForeignContentException
        || (root instanceof RedisCommandExecutionException
            && (said.contains("WRONGTYPE ")
                || said.contains("Bad data format in input")
                || said.contains("Missing bytes in input")
                || said.contains("bad argument #")
                || said.contains("attempt to ")));
  }

  /** Behind "unable to connect", which is all that the driver says. */
  private static Throwable root(Throwable failure) {
    Throwable root = failure;
    while ((root instanceof RedisConnectionException
            || root instanceof CompletionException
            || root instanceof ExecutionException
            || root instanceof SSLException
            || root.getClass().getSimpleName().equals("DecoderException"))
        && root.getCause() != null) {
      root = root.getCause();
    }
    return root;
  }

  private static String said(Throwable failure) {
    String message = failure.getMessage();
    return message == null
        ? failure.getClass().getSimpleName()
        : message.lines().findFirst().orElse("").strip();
  }
}
