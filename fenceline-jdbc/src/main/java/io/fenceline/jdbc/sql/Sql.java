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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A statement from a resource file: {@code {table}} is replaced when it is read, {@code :name} is a
 * parameter, {@code :names...} a list of parameters whose length is known when it is run.
 */
public final class Sql {
  private static final Pattern COMMENT = Pattern.compile("(?m)^\\s*--.*$\\R?");
  private static final Pattern PLACEHOLDER = Pattern.compile("\\{([a-z_]+)}");
  private static final Pattern PARAMETER = Pattern.compile(":([a-z_]+)(\\.\\.\\.)?");

  /** The longest list of one statement; longer ones are sent in parts. */
  public static final int LONGEST_LIST = 512;

  private final String file;
  private final String template;
  private final boolean numbered;
  private final Map<Integer, Form> forms = new ConcurrentHashMap<>();

  /**
   * The statement for lists of one length.
   *
   * @param text with question marks
   * @param places of each parameter, counted from 1
   */
  public record Form(String text, Map<String, int[]> places) {}

  /**
   * What each dialect has a file of its own for. Not found out by looking: a resource that is not
   * there costs a look into every jar of the class path, which a command line tool pays at each
   * start.
   */
  private static final Set<String> OWN =
      Set.of(
          "beat-and-look",
          "claim",
          "diagnose",
          "enqueue",
          "fence-check",
          "fence-marks",
          "fence-schema",
          "give-back",
          "planted",
          "release",
          "renew",
          "renew-claims",
          "renewed",
          "renewed-claims",
          "rights",
          "schema",
          "take",
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

  private Sql(String file, String template, boolean numbered) {
    this.file = file;
    this.template = template;
    this.numbered = numbered;
  }

  /**
   * Reads a file: the dialect's own, or the one that all share.
   *
   * @param numbered whether a parameter that stands in several places is set once
   */
  public static Sql read(
      String dialect, String name, Map<String, String> replacements, boolean numbered) {
    return new Sql(name, text(dialect, name, replacements), numbered);
  }

  /** The text of a file, without its comments. */
  public static String text(String dialect, String name, Map<String, String> replacements) {
    return replace(template(dialect, name), name, replacements);
  }

  /** As {@link #text}, with its placeholders. */
  static String template(String dialect, String name) {
    boolean isOwn = OWN.contains(name) || (dialect.equals("mysql") && OWN_OF_MYSQL.contains(name));
    String text = resource((isOwn ? dialect + "/" : "") + name + ".sql");
    if (text == null) {
      throw new IllegalStateException("no statement " + name + " for " + dialect);
    }
    return COMMENT.matcher(text).replaceAll("").strip();
  }

  private static String replace(String text, String name, Map<String, String> replacements) {
    String replaced =
        PLACEHOLDER
            .matcher(text)
            .replaceAll(
                found -> {
                  String value = replacements.get(found.group(1));
                  if (value == null) {
                    throw new IllegalStateException(name + ".sql: what is " + found.group() + "?");
                  }
                  return Matcher.quoteReplacement(value);
                });
    return replaced.equals(text) ? text : replace(replaced, name, replacements);
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
    StringBuilder text = new StringBuilder();
    Map<String, List<Integer>> found = new HashMap<>();
    Matcher matcher = PARAMETER.matcher(template);
    int count = 0;
    while (matcher.find()) {
      int repeats = matcher.group(2) == null ? 1 : room;
      List<Integer> places = found.computeIfAbsent(matcher.group(1), key -> new ArrayList<>());
      List<String> marks = new ArrayList<>();
      boolean again = numbered && !places.isEmpty();
      for (int i = 0; i < repeats; i++) {
        int place = again ? places.get(i) : ++count;
        if (!again) {
          places.add(place);
        }
        marks.add(numbered ? "?" + place : "?");
      }
      matcher.appendReplacement(text, Matcher.quoteReplacement(String.join(", ", marks)));
    }
    matcher.appendTail(text);
    Map<String, int[]> places = new HashMap<>();
    found.forEach((key, value) -> places.put(key, value.stream().mapToInt(i -> i).toArray()));
    return new Form(text.toString(), Map.copyOf(places));
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
