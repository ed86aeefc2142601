package io.fenceline.redis.layout;

import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/**
 * Where things are in Redis: the format {@code fl1}.
 *
 * <p>A name belongs to one of 256 buckets. Its keys carry the bucket as their hash tag, so that in
 * a Cluster all of them, and the counter of the bucket, are on one node. Only counters outlive the
 * names. The number of buckets and the hash are part of the format: another one gets another
 * prefix.
 */
public final class Layout {
  public static final int BUCKETS = 256;

  private static final String PREFIX = "fl1:";

  /** A later format must set this key, so that clients of this one refuse to work beside it. */
  static final byte[] NEWER_FORMAT = mark(0);

  private static final byte[][] HEADS = starts(":");
  private static final byte[][] RECORDS = starts("r:");
  private static final byte[][] DEADLINES = starts("d:");
  private static final byte[][] QUEUES = starts("q:");
  private static final byte[][] COUNTERS = starts("#");

  private Layout() {}

  /**
   * A name, as Redis has it.
   *
   * @param bucket the bucket that it belongs to
   * @param keys head, records, deadlines, queue, counter
   */
  @SuppressWarnings("ArrayRecordComponent") // Made for one command, never compared.
  public record Place(int bucket, byte[][] keys) {}

  public static Place place(String name) {
    byte[] encoded = name.getBytes(StandardCharsets.UTF_8);
    int bucket = bucket(encoded);
    return new Place(
        bucket,
        new byte[][] {
          join(HEADS[bucket], encoded),
          join(RECORDS[bucket], encoded),
          join(DEADLINES[bucket], encoded),
          join(QUEUES[bucket], encoded),
          COUNTERS[bucket]
        });
  }

  /** As {@link #place}, with the head and the counter only. */
  public static Place simple(String name) {
    byte[] encoded = name.getBytes(StandardCharsets.UTF_8);
    int bucket = bucket(encoded);
    return new Place(bucket, new byte[][] {join(HEADS[bucket], encoded), COUNTERS[bucket]});
  }

  /** The key that people have to look at if something is wrong with a name. */
  public static String headOf(String name) {
    return new String(simple(name).keys()[0], StandardCharsets.UTF_8);
  }

  public static int bucket(byte[] name) {
    CRC32 crc = new CRC32();
    crc.update(name, 0, name.length);
    return (int) (crc.getValue() % BUCKETS);
  }

  /** Any key of a bucket; tells which slot the bucket is in. */
  public static byte[] counter(int bucket) {
    return COUNTERS[bucket];
  }

  /** Where a bucket would have a mark; only that of the first one means something. */
  public static byte[] mark(int bucket) {
    return bytes(PREFIX + "{" + bucket + "}!");
  }

  /** A key that is never written. */
  public static byte[] scratch(int bucket) {
    return bytes(PREFIX + "{" + bucket + "}?");
  }

  /** The channel on which one client hears of its grants. */
  public static String channel(String client) {
    return PREFIX + "@" + client;
  }

  /** Likewise, where a channel must be in the bucket's slot. */
  public static String shardChannel(int bucket, String client) {
    return PREFIX + "{" + bucket + "}@" + client;
  }

  /** A pattern for SCAN that matches the heads of all names that start with a prefix. */
  public static byte[] headPattern(String prefix) {
    return bytes(PREFIX + "{*}:" + literally(prefix) + "*");
  }

  /** A pattern that matches what starts with a text. */
  public static byte[] startPattern(String start) {
    return bytes(literally(start) + "*");
  }

  private static String literally(String text) {
    return text.replaceAll("[*?\\[\\]\\\\^]", "\\\\$0");
  }

  /** The name that a head is of, or empty if it is not a head: a pattern may match too much. */
  public static String nameOfHead(byte[] key) {
    String text = new String(key, StandardCharsets.UTF_8);
    int tagEnd = text.indexOf("}:");
    if (!text.startsWith(PREFIX + "{") || tagEnd < 0) {
      return "";
    }
    String name = text.substring(tagEnd + 2);
    String tag = text.substring(PREFIX.length() + 1, tagEnd);
    boolean own = tag.equals(Integer.toString(bucket(name.getBytes(StandardCharsets.UTF_8))));
    return own ? name : "";
  }

  public static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  public static byte[] bytes(long number) {
    return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
  }

  private static byte[][] starts(String kind) {
    byte[][] starts = new byte[BUCKETS][];
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
      starts[bucket] = bytes(PREFIX + "{" + bucket + "}" + kind);
    }
    return starts;
  }

  private static byte[] join(byte[] start, byte[] name) {
    byte[] key = new byte[start.length + name.length];
    System.arraycopy(start, 0, key, 0, start.length);
    System.arraycopy(name, 0, key, start.length, name.length);
    return key;
  }
}
