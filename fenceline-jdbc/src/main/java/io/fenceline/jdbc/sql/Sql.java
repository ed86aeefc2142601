package io.fenceline.jdbc.sql;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A statement from a resource file: {@code {table}} is replaced when it is read, {@code :name} is a
 * parameter, {@code :names...} a list of parameters whose length is known when it is run.
 *
 * <p>Read when it is first run: a short-lived client needs few of them. Without regular
 * expressions, which take a tenth of such a client's time in a JVM that has just started.
 */
public final class Sql {
  private static final String LIST = "...";

  /** The longest list of one statement; longer ones are sent in parts. */
  public static final int LONGEST_LIST = 512;

  private final String dialect;
  private final String file;
  private final Map<String, String> replacements;
  private final boolean numbered;
  private final Map<Integer, Form> forms = new ConcurrentHashMap<>();

  /**
   * The statement for lists of one length.
   *
   * @param text with question marks
   * @param places of each parameter, counted from 1
   * @param room how many places a list has, each time that it is named
   */
  public record Form(String text, Map<String, int[]> places, int room) {}

  /**
   * What each dialect has a file of its own for. Not found out by looking: a resource that is not
   * there costs a look into every jar of the class path, which a command line tool pays at each
   * start.
   */
  private static final Set<String> OWN =
      Set.of(
          "beat-and-look",
          "bell",
          "bell-without-names",
          "claim",
          "claim-uncontended",
          "diagnose",
          "enqueue",
          "fence-check",
          "fence-marks",
          "fence-schema",
          "listen",
          "planted",
          "release",
          "release-uncontended",
          "renew",
          "renew-claims",
          "renewed",
          "renewed-claims",
          "rights",
          "ring",
          "schema",
          "tell",
          "tell-next",
          "transaction-count",
          "transaction-lock",
          "transaction-rollback",
          "transaction-settings",
          "transaction-try-lock",
          "transaction-turn",
          "transaction-turn-now",
          "transaction-wait",
          "turn");

  /** What MySQL has a file of its own for beside these. */
  private static final Set<String> OWN_OF_MYSQL = Set.of("forget");

  private Sql(String dialect, String file, Map<String, String> replacements, boolean numbered) {
    this.dialect = dialect;
    this.file = file;
    this.replacements = replacements;
    this.numbered = numbered;
  }

  /**
   * The statement of a file, the dialect's own or the one that all share: read when it is first
   * run.
   *
   * @param replacements not to be changed any more
   * @param numbered whether a parameter that stands in several places is set once
   */
  public static Sql read(
      String dialect, String name, Map<String, String> replacements, boolean numbered) {
    return new Sql(dialect, name, replacements, numbered);
  }

  /** The text of a file, without its comments. */
  public static String text(String dialect, String name, Map<String, String> replacements) {
    return replace(template(dialect, name), name, replacements);
  }

  /** As {@link #text}, with its placeholders. What MySQL says no differently is MariaDB's file. */
  static String template(String dialect, String name) {
    boolean isOwn = OWN.contains(name) || (dialect.equals("mysql") && OWN_OF_MYSQL.contains(name));
    String text = resource((isOwn ? dialect + "/" : "") + name + ".sql");
    if (text == null && isOwn && dialect.equals("mysql")) {
      text = resource("mariadb/" + name + ".sql");
    }
    if (text == null) {
      throw new IllegalStateException("no statement " + name + " for " + dialect);
    }
    StringBuilder kept = new StringBuilder();
    for (String line : text.split("\n", -1)) {
      if (!line.stripLeading().startsWith("--")) {
        kept.append(line).append('\n');
      }
    }
    return kept.toString().strip();
  }

  private static String replace(String text, String name, Map<String, String> replacements) {
    StringBuilder replaced = new StringBuilder();
    int done = 0;
    for (int at = text.indexOf('{'); at >= 0; at = text.indexOf('{', at + 1)) {
      int end = wordEnd(text, at + 1);
      if (end == at + 1 || !text.startsWith("}", end)) {
        continue;
      }
      String value = replacements.get(text.substring(at + 1, end));
      if (value == null) {
        throw new IllegalStateException(
            name + ".sql: what is " + text.substring(at, end + 1) + "?");
      }
      replaced.append(text, done, at).append(replace(value, name, replacements));
      done = end + 1;
    }
    return done == 0 ? text : replaced.append(text, done, text.length()).toString();
  }

  /** Where a word of small letters and underscores ends that may begin here. */
  private static int wordEnd(String text, int from) {
    int end = from;
    while (end < text.length() && isOfAWord(text.charAt(end))) {
      end++;
    }
    return end;
  }

  private static boolean isOfAWord(char c) {
    return (c >= 'a' && c <= 'z') || c == '_';
  }

  private static @Nullable String resource(String path) {
    try (InputStream in = Sql.class.getResourceAsStream(path)) {
      return in == null ? null : new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The statement with room for lists of at least this length.
   *
   * <p>Rounded up to a power of two, so that a database sees few different statements and can keep
   * them prepared; the last element fills the rest.
   */
  public Form form(int listLength) {
    int room = listLength <= 1 ? 1 : Integer.highestOneBit(listLength - 1) << 1;
    Form form = forms.get(room);
    return form == null ? forms.computeIfAbsent(room, this::parse) : form;
  }

  private Form parse(int room) {
    String template = text(dialect, file, replacements);
    StringBuilder text = new StringBuilder();
    Map<String, List<Integer>> found = new HashMap<>();
    int count = 0;
    int done = 0;
    for (int at = template.indexOf(':'); at >= 0; at = template.indexOf(':', at + 1)) {
      int end = wordEnd(template, at + 1);
      if (end == at + 1) {
        continue;
      }
      boolean isList = template.startsWith(LIST, end);
      int repeats = isList ? room : 1;
      List<Integer> places =
          found.computeIfAbsent(template.substring(at + 1, end), key -> new ArrayList<>());
      List<String> marks = new ArrayList<>();
      boolean again = numbered && !places.isEmpty();
      for (int i = 0; i < repeats; i++) {
        int place = again ? places.get(i) : ++count;
        if (!again) {
          places.add(place);
        }
        marks.add(numbered ? "?" + place : "?");
      }
      text.append(template, done, at).append(String.join(", ", marks));
      done = isList ? end + LIST.length() : end;
    }
    text.append(template, done, template.length());
    Map<String, int[]> places = new HashMap<>();
    found.forEach((key, value) -> places.put(key, value.stream().mapToInt(i -> i).toArray()));
    return new Form(text.toString(), Map.copyOf(places), room);
  }

  /** A list in parts that one statement can take. */
  public static <A, B> List<List<B>> parts(List<A> all, Function<A, B> mapping) {
    List<List<B>> parts = new ArrayList<>();
    for (int from = 0; from < all.size(); from += LONGEST_LIST) {
      int to = Math.min(all.size(), from + LONGEST_LIST);
      parts.add(all.subList(from, to).stream().map(mapping).toList());
    }
    return parts;
  }

  @Override
  public String toString() {
    return file;
  }
}
