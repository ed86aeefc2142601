package io.fenceline.recipes.striped;

import com.google.errorprone.annotations.MustBeClosed;
import io.fenceline.Acquirable;
import io.fenceline.FencedLock;
import io.fenceline.FencedSemaphore;
import io.fenceline.Fenceline;
import io.fenceline.LockOptions;
import io.fenceline.MultiHold;
import io.fenceline.PermitHold;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.recipes.support.RecipeNames;
import io.fenceline.settings.InvalidSettingException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A fixed number of locks for any number of keys: each key has one of them, its stripe.
 *
 * <pre>{@code
 * try (StripedLocks accounts = StripedLocks.of(fenceline, "accounts", 64);
 *     Hold hold = accounts.lock("account-42").acquire(Duration.ofSeconds(5))) {
 *   ledger.append(entry, hold.token());
 * }
 * }</pre>
 *
 * <p>What holds:
 *
 * <ul>
 *   <li>Two holders of the same key exclude each other, and so do two keys of the same stripe,
 *       which is the price. Tokens of a stripe rise, and so those of a key do.
 *   <li>The stripe of a key is the same in every JVM and language: the first 8 bytes of the SHA-256
 *       of its UTF-8, as an unsigned number, modulo the count.
 *   <li>All who use a name at the same time have the same count: one that comes with another fails
 *       with both. So a rolling deployment that changes the count stops instead of losing
 *       exclusion. That is known by a permit of a semaphore, {@code striped:NAME}, which each
 *       client holds until it is closed.
 *   <li>Several keys at once, all or none, without deadlock: {@link #lockAll}.
 * </ul>
 *
 * <p>Ask for the lock each time rather than keeping it: only then is it seen that this client still
 * has its permit, which it may have lost while the store was away. It costs nothing otherwise.
 *
 * <p>Thread-safe.
 */
public final class StripedLocks implements AutoCloseable {
  /*
   * A semaphore has one number of permits while anyone holds some, and a claim with another number is
   * refused with both: in every store, in the step that grants. The count is in that number. The
   * permits themselves are more than there will be clients.
   *
   * One permit a client and not one a hold: it costs one request at the start and none later, and the
   * stripes do not meet at one name.
   */
  private static final int MOST_CLIENTS = 1_000_000;

  private static final int MOST_STRIPES = 65_536;
  private static final int LONGEST_KEY = 1_024;
  private static final Pattern PERMITS = Pattern.compile("\\b(1\\d{6})\\b");

  private final Fenceline fenceline;
  private final String name;
  private final int count;
  private final LockOptions options;
  private final FencedSemaphore clients;

  // Guarded by this.
  private @Nullable PermitHold registration;
  private boolean closed;

  private StripedLocks(Fenceline fenceline, String name, int count, LockOptions options) {
    this.fenceline = fenceline;
    this.name = name;
    this.count = count;
    this.options = options;
    this.clients = fenceline.semaphore("striped:" + name, MOST_CLIENTS + count, options);
  }

  /** As {@link #of(Fenceline, String, int, LockOptions)}, with default options. */
  @MustBeClosed
  public static StripedLocks of(Fenceline fenceline, String name, int count) {
    return of(fenceline, name, count, LockOptions.defaults());
  }

  /**
   * Returns the stripes of a name.
   *
   * @param name 1 to 50 letters, digits, dots, dashes and underscores
   * @param count how many, 1 to 65,536
   * @param options of their locks
   * @throws InvalidSettingException if the store can't announce the count, as Redlock
   * @throws StoreRefusedException if others use the name with another count
   * @throws StoreUnavailableException if the store gave no answer
   */
  @MustBeClosed
  public static StripedLocks of(Fenceline fenceline, String name, int count, LockOptions options) {
    Objects.requireNonNull(fenceline, "fenceline");
    Objects.requireNonNull(options, "options");
    RecipeNames.check(name);
    if (count < 1 || count > MOST_STRIPES) {
      throw new InvalidSettingException("count", count, "it must be 1 to " + MOST_STRIPES);
    }
    StripedLocks stripes = new StripedLocks(fenceline, name, count, options);
    stripes.register();
    return stripes;
  }

  /** Returns how many stripes there are. */
  public int count() {
    return count;
  }

  /** Returns which stripe a key has, from 0. */
  public int stripeOf(String key) {
    byte[] bytes = utf8(key);
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(bytes);
      return (int) Long.remainderUnsigned(ByteBuffer.wrap(hash).getLong(), count);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // Every Java has it.
    }
  }

  private static byte[] utf8(String key) {
    if (key.isEmpty()) {
      throw new InvalidSettingException("key", "''", "it is empty");
    }
    try {
      ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(key));
      if (encoded.remaining() > LONGEST_KEY) {
        throw new InvalidSettingException(
            "key",
            "'" + key.substring(0, 20) + "…'",
            "it is too long (bytes=%d, limit=%d)".formatted(encoded.remaining(), LONGEST_KEY));
      }
      byte[] bytes = new byte[encoded.remaining()];
      encoded.get(bytes);
      return bytes;
    } catch (CharacterCodingException e) {
      throw new InvalidSettingException("key", "with half a surrogate pair", "it is no text");
    }
  }

  /** Returns the name of the lock of a key, which {@link MultiHold#hold} takes. */
  public String lockName(String key) {
    return "striped:%s:%d:%d".formatted(name, count, stripeOf(key));
  }

  /**
   * Returns the lock of a key.
   *
   * @throws StoreRefusedException if this client had lost its permit, and others have another count
   * @throws StoreUnavailableException if it had lost its permit, and the store gave no answer
   */
  public FencedLock lock(String key) {
    String lock = lockName(key);
    register();
    return fenceline.lock(lock, options);
  }

  /**
   * Returns the locks of several keys, all or none; keys of the same stripe share one.
   *
   * @throws StoreRefusedException as {@link #lock}
   */
  public Acquirable<MultiHold> lockAll(Collection<String> keys) {
    TreeSet<String> locks = new TreeSet<>();
    keys.forEach(key -> locks.add(lockName(key)));
    if (locks.isEmpty()) {
      throw new InvalidSettingException("keys", "[]", "there must be at least one");
    }
    register();
    return fenceline.lockAll(List.copyOf(locks), options);
  }

  private synchronized void register() {
    if (closed) {
      throw new IllegalStateException("Stripes '%s' are closed".formatted(name));
    }
    PermitHold known = registration;
    if (known != null && known.isValid()) {
      return;
    }
    Optional<PermitHold> permit;
    try {
      permit = clients.tryAcquire();
    } catch (StoreRefusedException e) {
      throw refused(e);
    } catch (InvalidSettingException e) {
      throw e.setting().equals("permits") ? tooManyPermits(e) : e;
    }
    registration =
        permit.orElseThrow(
            () ->
                new InvalidSettingException(
                    "clients", "too many", "there are at most " + MOST_CLIENTS));
    if (known != null) {
      known.close();
    }
  }

  /** Redlock's semaphores are small. */
  private InvalidSettingException tooManyPermits(InvalidSettingException e) {
    return new InvalidSettingException(
        "count",
        count,
        "it can't be announced to other clients in this store (" + e.getMessage() + ")",
        "Use another store, or plain locks");
  }

  private StoreRefusedException refused(StoreRefusedException e) {
    String message = String.valueOf(e.getMessage());
    Matcher permits = PERMITS.matcher(message.substring(message.indexOf("' ") + 1));
    int other = 0;
    while (permits.find()) {
      int found = Integer.parseInt(permits.group(1)) - MOST_CLIENTS;
      other = found == count ? other : found;
    }
    return other == 0
        ? e
        : new StoreRefusedException(
            "Stripes '%s' are in use with another count (asked=%d, inUse=%d). Locks of different counts do not exclude each other; change the count when every client has closed the old one, or use another name."
                .formatted(name, count, other),
            e);
  }

  /** Gives the permit back. Locks that are held stay held. */
  @Override
  public synchronized void close() {
    closed = true;
    if (registration != null) {
      registration.close();
      registration = null;
    }
  }

  @Override
  public String toString() {
    return "StripedLocks '%s' (count=%d)".formatted(name, count);
  }
}
