package io.fenceline.micrometer;

import io.fenceline.settings.InvalidSettingException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * Which group a lock belongs to: the value of the tag {@code lock.group}, which has few values
 * however many locks there are.
 *
 * <p>The first declared pattern that matches gives the group; a {@code *} stands for any text, and
 * the group is the pattern without what follows its first {@code *} and without the separator
 * before it: {@code orders:*} is the group {@code orders}. A name that no pattern matches belongs
 * to the group before its first separator ({@code :}, {@code /} or {@code .}); one without a
 * separator, and everything after the first {@value #MOST} groups, to {@value #OTHER}. Immutable
 * but for the groups that it has met; thread-safe.
 *
 * <pre>{@code
 * LockGroups groups = LockGroups.of("orders:*", "ledger");
 * }</pre>
 */
public final class LockGroups {
  /** How many groups there are at most, without {@link #OTHER}. */
  public static final int MOST = 100;

  /** The group of everything else. */
  public static final String OTHER = "other";

  private static final String SEPARATORS = ":/.";

  private final Map<Pattern, String> declared;
  private final Map<String, String> met = new ConcurrentHashMap<>();

  private LockGroups(Map<Pattern, String> declared) {
    this.declared = declared;
  }

  /**
   * Groups by patterns, tried in this order.
   *
   * @throws InvalidSettingException if there are more than {@value #MOST}, or one of them is empty
   *     or begins with {@code *}
   */
  public static LockGroups of(String... patterns) {
    Map<Pattern, String> declared = new LinkedHashMap<>();
    List<String> groups = new ArrayList<>();
    for (String pattern : patterns) {
      String group = named(Objects.requireNonNull(pattern, "pattern"));
      if (group.isEmpty()) {
        throw new InvalidSettingException(
            "pattern",
            pattern,
            "it must begin with literal text, which becomes the name of its group");
      }
      declared.put(compiled(pattern), group);
      groups.add(group);
    }
    if (patterns.length > MOST) {
      throw new InvalidSettingException(
          "patterns", patterns.length, "there can be at most " + MOST);
    }
    LockGroups made = new LockGroups(declared);
    groups.forEach(group -> made.met.put(group, group));
    return made;
  }

  private static String named(String pattern) {
    int star = pattern.indexOf('*');
    int end = star < 0 ? pattern.length() : star;
    while (star >= 0 && end > 0 && SEPARATORS.indexOf(pattern.charAt(end - 1)) >= 0) {
      end--;
    }
    return pattern.substring(0, end);
  }

  private static Pattern compiled(String pattern) {
    StringBuilder text = new StringBuilder();
    for (String part : pattern.split("\\*", -1)) {
      text.append(text.isEmpty() ? "" : ".*").append(Pattern.quote(part));
    }
    return Pattern.compile(text.toString(), Pattern.DOTALL);
  }

  /** Returns the group of a name. */
  public String groupOf(String name) {
    for (Map.Entry<Pattern, String> entry : declared.entrySet()) {
      if (entry.getKey().matcher(name).matches()) {
        return entry.getValue();
      }
    }
    for (int end = 0; end < name.length(); end++) {
      if (SEPARATORS.indexOf(name.charAt(end)) >= 0) {
        return end == 0 ? OTHER : bounded(name.substring(0, end));
      }
    }
    return OTHER;
  }

  /** The group, if there is room for it. */
  private String bounded(String group) {
    String known = met.get(group);
    if (known != null) {
      return known;
    }
    synchronized (met) {
      if (met.size() >= MOST && !met.containsKey(group)) {
        return OTHER;
      }
      met.put(group, group);
      return group;
    }
  }
}
