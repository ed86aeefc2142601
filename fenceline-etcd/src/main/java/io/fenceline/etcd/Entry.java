package io.fenceline.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.fenceline.spi.ClaimRequest;
import io.fenceline.spi.ClientInfo;
import io.fenceline.spi.Mode;
import io.fenceline.spi.Owner;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * A claim as it stands in etcd: a key with a place in the queue, and a value that says whose it is.
 *
 * @param key the key
 * @param created its create revision: the place in the queue, and the grant number
 * @param changed the revision of its last change
 * @param leaseId the lease that it ends with
 * @param value as stored
 */
record Entry(ByteSequence key, long created, long changed, long leaseId, Value value) {

  /** There is a key among the claims that is none, or one of another format. */
  static final class ForeignKeyException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ForeignKeyException(ByteSequence key, IllegalArgumentException cause) {
      super(
          "the key '%s' is not of this version of Fenceline (%s); delete it if no such client runs"
              .formatted(key.toString(StandardCharsets.UTF_8), cause.getMessage()),
          cause);
    }
  }

  /**
   * Reads a claim.
   *
   * @throws ForeignKeyException if it is none, or of another format: whether it holds the name is
   *     then not known, and nothing may be granted behind it
   */
  static Entry of(KeyValue found) {
    Value value;
    try {
      value = Value.parse(found.getValue().toString(StandardCharsets.UTF_8));
    } catch (IllegalArgumentException e) {
      throw new ForeignKeyException(found.getKey(), e);
    }
    return new Entry(
        found.getKey(), found.getCreateRevision(), found.getModRevision(), found.getLease(), value);
  }

  static List<Entry> all(List<KeyValue> found) {
    return found.stream().map(Entry::of).toList();
  }

  /** What a claim says of its place. */
  enum Standing {
    /** It stays in the queue. */
    WAITS,

    /** It goes away unless it is granted at once. */
    TRIES,

    /** It had its turn: nobody was ahead of it, and nobody ever comes to be. */
    HOLDS
  }

  /**
   * What a claim says of itself, one item a line.
   *
   * @param secret the owner, which alone may touch it; its public id once it has ended
   * @param mode in which mode
   * @param standing whether it waits, or tries, or is known to have had its turn
   * @param delay lock-delay
   * @param sinceMillis when it was sent, by the clock of the client: etcd has none to show
   * @param client who it is
   */
  record Value(
      String secret,
      Mode mode,
      Standing standing,
      Duration delay,
      long sinceMillis,
      ClientInfo client) {
    private static final int LINES = 8;
    private static final String ENDED = "#";

    static Value of(ClaimRequest claim, long sinceMillis, ClientInfo client) {
      return new Value(
          claim.owner().secret(),
          claim.mode(),
          claim.waits() ? Standing.WAITS : Standing.TRIES,
          claim.delay(),
          sinceMillis,
          client);
    }

    ByteSequence bytes() {
      String text =
          String.join(
              "\n",
              secret,
              text(mode),
              standing.name().toLowerCase(Locale.ROOT),
              Long.toString(delay.toMillis()),
              Long.toString(sinceMillis),
              Long.toString(client.pid()),
              client.host(),
              client.label());
      return ByteSequence.from(text, StandardCharsets.UTF_8);
    }

    static Value parse(String text) {
      String[] lines = text.split("\n", LINES);
      if (lines.length != LINES) {
        throw new IllegalArgumentException("it has " + lines.length + " lines");
      }
      return new Value(
          lines[0],
          mode(lines[1]),
          Standing.valueOf(lines[2].toUpperCase(Locale.ROOT)),
          Duration.ofMillis(Long.parseLong(lines[3])),
          Long.parseLong(lines[4]),
          new ClientInfo(lines[7], lines[6], Long.parseLong(lines[5])));
    }

    private static String text(Mode mode) {
      if (mode instanceof Mode.Permits permits) {
        return "permits " + permits.count() + " " + permits.total();
      }
      return mode instanceof Mode.Shared ? "shared" : "exclusive";
    }

    private static Mode mode(String text) {
      String[] words = text.split(" ", -1);
      if (words.length != (words[0].equals("permits") ? 3 : 1)) {
        throw new IllegalArgumentException("it has an unknown mode");
      }
      return switch (words[0]) {
        case "exclusive" -> Mode.EXCLUSIVE;
        case "shared" -> Mode.SHARED;
        case "permits" -> Mode.permits(Integer.parseInt(words[1]), Integer.parseInt(words[2]));
        default -> throw new IllegalArgumentException("it has an unknown mode");
      };
    }

    /** The public name of the owner. */
    String id() {
      return hasEnded() ? secret.substring(1) : Owner.idOf(secret);
    }

    /** Whether nobody was ahead of it when it was last heard of, so that its end is a turn. */
    boolean hadItsTurnAlone() {
      return standing == Standing.HOLDS && mode instanceof Mode.Exclusive;
    }

    /** Whether it was given back or taken away, and only keeps the name closed. */
    boolean hasEnded() {
      return secret.startsWith(ENDED);
    }

    /** The same without an owner: nobody can touch it any more, and nothing but time opens it. */
    Value ended() {
      return new Value(ENDED + id(), mode, Standing.HOLDS, delay, sinceMillis, client);
    }

    /** The same, once it has had its turn after a wait. */
    Value holding() {
      return new Value(secret, mode, Standing.HOLDS, delay, sinceMillis, client);
    }

    /** Without the secret. */
    @Override
    public String toString() {
      return mode + " by " + client.label();
    }
  }
}
