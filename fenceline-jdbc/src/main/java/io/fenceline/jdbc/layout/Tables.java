package io.fenceline.jdbc.layout;

import io.fenceline.settings.InvalidSettingException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The names of our tables: the only text from outside that becomes part of a statement, so only
 * plain small words are let through.
 *
 * @param schema where they are; empty for where the connection points
 * @param prefix how they begin
 * @param owner a role that they may belong to, beside those that are trusted anyway; or empty
 */
public record Tables(String schema, String prefix, String owner) {
  private static final Pattern WORD = Pattern.compile("[a-z_][a-z0-9_]{0,39}");

  /** PostgreSQL's names have 63 bytes; a channel's ends with what tells processes apart. */
  private static final int LONGEST_CHANNEL = 48;

  /** Below every name. Not empty, which MariaDB can be told to take for NULL. */
  @SuppressWarnings("MutablePublicArray")
  public static final byte[] BEFORE_ALL_NAMES = {0};

  public static final Tables DEFAULT = new Tables("", "fenceline", "");

  public Tables {
    check("tablePrefix", prefix);
    if (!owner.isEmpty()) {
      check("owner", owner);
    }
    if (!schema.isEmpty()) {
      check("schema", schema);
    }
  }

  /** Written out: the one that a record has costs more than opening the file, once. */
  @Override
  public String toString() {
    return schema + "." + prefix;
  }

  private static void check(String setting, String word) {
    if (!WORD.matcher(word).matches()) {
      throw new InvalidSettingException(
          setting,
          word,
          "it must have 1 to 40 characters of a-z, 0-9 and _, and not begin with a digit");
    }
  }

  /** How the names of channels begin: short enough that what follows is not cut off. */
  String channel() {
    String start = schema.isEmpty() ? prefix : schema + "_" + prefix;
    return start.substring(Math.max(0, start.length() - LONGEST_CHANNEL));
  }

  public Map<String, String> words() {
    return words(List.of("locks", "claims", "transaction_locks", "format"));
  }

  /** As above, where only some of the tables matter: who has put them there is looked at. */
  public Map<String, String> words(List<String> ours) {
    String start = schema.isEmpty() ? prefix : schema + "." + prefix;
    Map<String, String> words = new HashMap<>();
    words.put("schema", schema);
    words.put("prefix", prefix);
    words.put("locks", start + "_locks");
    words.put("claims", start + "_claims");
    words.put("fences", start + "_fences");
    words.put("format", start + "_format");
    words.put("transaction_locks", start + "_transaction_locks");
    words.put("our_names", listed(ours, "'" + prefix + "_%s'"));
    words.put("our_classes", listed(ours, "pg_catalog.to_regclass('" + start + "_%s')"));
    words.put("claims_index", prefix + "_claims_by_name");
    words.put("channel", channel());
    return words;
  }

  private static String listed(List<String> tables, String form) {
    return tables.stream().map(form::formatted).collect(Collectors.joining(", "));
  }
}
