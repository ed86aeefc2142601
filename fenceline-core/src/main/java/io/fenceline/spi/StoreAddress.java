package io.fenceline.spi;

import io.fenceline.InvalidSettingException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A store's URI, taken apart; several hosts are allowed. Its {@code toString} hides secrets.
 *
 * <pre>
 * redis://user:secret&#64;cache:6379/0?timeout=2s
 * zookeeper://a:2181,b:2181,c:2181/chroot
 * jdbc:postgresql://db/orders?user=app&amp;password=secret
 * sqlite:/var/lib/app/locks.db
 * </pre>
 */
public final class StoreAddress {
  private static final Pattern SHAPE =
      Pattern.compile("(?<scheme>jdbc:[a-z][a-z0-9+.-]*|[a-z][a-z0-9+.-]*):(?<rest>.*)");
  private static final Pattern SECRET_KEY =
      Pattern.compile("(?i).*(pass|pwd|secret|token|credential|key).*");
  private static final Pattern SECRET_PARAMETER =
      Pattern.compile("(?i)([?&;][^=&;]*(?:pass|pwd|secret|token|credential|key)[^=&;]*=)[^&;]*");
  private static final String HIDDEN = "***";

  private final String text;
  private final String scheme;
  private final Optional<String> user;
  private final Optional<String> password;
  private final List<HostPort> hosts;
  private final String path;
  private final Map<String, String> parameters;

  /**
   * A host and, where one was given, its port.
   *
   * @param host name or address; an IPv6 address without its brackets
   * @param port empty for the store's default
   */
  public record HostPort(String host, Optional<Integer> port) {
    @Override
    public String toString() {
      String shown = host.contains(":") ? "[" + host + "]" : host;
      return port.map(p -> shown + ":" + p).orElse(shown);
    }
  }

  private StoreAddress(String text) {
    this.text = text;
    Matcher shape = SHAPE.matcher(text);
    if (!shape.matches()) {
      throw invalid("a store address starts with a scheme, such as sqlite: or redis://");
    }
    this.scheme = shape.group("scheme").toLowerCase(Locale.ROOT);
    String rest = shape.group("rest");
    int query = rest.indexOf('?');
    this.parameters = query < 0 ? Map.of() : parameters(rest.substring(query + 1));
    String place = query < 0 ? rest : rest.substring(0, query);
    if (!place.startsWith("//")) {
      this.user = Optional.empty();
      this.password = Optional.empty();
      this.hosts = List.of();
      this.path = place;
      return;
    }
    int slash = place.indexOf('/', 2);
    String authority = slash < 0 ? place.substring(2) : place.substring(2, slash);
    this.path = slash < 0 ? "" : place.substring(slash);
    int at = authority.lastIndexOf('@');
    String login = at < 0 ? "" : authority.substring(0, at);
    int colon = login.indexOf(':');
    this.user = nonEmpty(decode(colon < 0 ? login : login.substring(0, colon)));
    this.password = colon < 0 ? Optional.empty() : nonEmpty(decode(login.substring(colon + 1)));
    this.hosts = hosts(authority.substring(at + 1));
  }

  /**
   * Takes an address apart.
   *
   * @throws InvalidSettingException if it is not one; the message hides secrets
   */
  public static StoreAddress parse(String text) {
    return new StoreAddress(text);
  }

  /** The scheme, with the kind of database for JDBC: {@code redis}, {@code jdbc:postgresql}. */
  public String scheme() {
    return scheme;
  }

  /** The whole address as it was given, secrets included; for drivers, not for messages. */
  public String secretText() {
    return text;
  }

  /** The user, where the address names one. */
  public Optional<String> user() {
    return user;
  }

  /** The password, where the address has one; not for messages. */
  public Optional<String> password() {
    return password;
  }

  /** The hosts, in order; empty where the address has none. */
  public List<HostPort> hosts() {
    return hosts;
  }

  /** What follows the hosts, or the scheme where there are none; may be empty. */
  public String path() {
    return path;
  }

  /** What follows the question mark. */
  public Map<String, String> parameters() {
    return parameters;
  }

  /**
   * The address without anything that may be a secret, not even its place: fit to be given to
   * another process, which has to know the secret by itself.
   */
  public String withoutSecrets() {
    int query = text.indexOf('?');
    String place = query < 0 ? text : text.substring(0, query);
    int login = place.indexOf("//") + 2;
    int at = place.lastIndexOf('@');
    if (!hosts.isEmpty() && login >= 2 && at > login) {
      int colon = place.indexOf(':', login);
      String shown = colon >= 0 && colon < at ? place.substring(login, colon) : null;
      place =
          shown == null
              ? place
              : place.substring(0, login)
                  + (shown.isEmpty() ? place.substring(at + 1) : shown + place.substring(at));
    } else if (at >= 0) {
      place = hideSecrets(place);
    }
    if (query < 0) {
      return place;
    }
    List<String> kept = new ArrayList<>();
    for (String pair : text.substring(query + 1).split("&", -1)) {
      int equals = pair.indexOf('=');
      if (equals < 0 || !SECRET_KEY.matcher(pair.substring(0, equals)).matches()) {
        kept.add(pair);
      }
    }
    return kept.isEmpty() ? place : place + "?" + String.join("&", kept);
  }

  /** An error about this address, that hides its secrets. */
  public InvalidSettingException invalid(String whatToDo) {
    return new InvalidSettingException("store address", hideSecrets(text), whatToDo);
  }

  private List<HostPort> hosts(String authority) {
    List<HostPort> found = new ArrayList<>();
    if (authority.isEmpty()) {
      return found;
    }
    for (String part : authority.split(",", -1)) {
      int colon = part.lastIndexOf(':');
      boolean hasPort = colon > part.lastIndexOf(']');
      String host = hasPort ? part.substring(0, colon) : part;
      if (host.startsWith("[") && host.endsWith("]")) {
        host = host.substring(1, host.length() - 1);
      }
      if (host.isEmpty()) {
        throw invalid("a host is missing");
      }
      found.add(
          new HostPort(
              host, hasPort ? Optional.of(port(part.substring(colon + 1))) : Optional.empty()));
    }
    return List.copyOf(found);
  }

  private int port(String digits) {
    if (digits.matches("[0-9]{1,5}")) {
      int port = Integer.parseInt(digits);
      if (port >= 1 && port <= 65_535) {
        return port;
      }
    }
    throw invalid("the port must be a number from 1 to 65535");
  }

  private Map<String, String> parameters(String query) {
    Map<String, String> found = new LinkedHashMap<>();
    for (String pair : query.split("&", -1)) {
      if (pair.isEmpty()) {
        continue;
      }
      int equals = pair.indexOf('=');
      String key = decode(equals < 0 ? pair : pair.substring(0, equals));
      found.put(key, equals < 0 ? "" : decode(pair.substring(equals + 1)));
    }
    return Map.copyOf(found);
  }

  private String decode(String encoded) {
    try {
      // URLDecoder turns '+' into a space, which is meant for forms and would spoil a password.
      return URLDecoder.decode(encoded.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw invalid("a percent sign must be followed by two hexadecimal digits");
    }
  }

  private static Optional<String> nonEmpty(String text) {
    return text.isEmpty() ? Optional.empty() : Optional.of(text);
  }

  /**
   * The address with everything hidden that may be a secret; works on any text.
   *
   * <p>A login ends at the last at sign, wherever a question mark may stand: a password may have
   * one. A login without a colon is hidden whole, because some drivers read it as a password.
   */
  static String hideSecrets(String text) {
    int slashes = text.indexOf("//");
    int at = text.lastIndexOf('@');
    String shown = text;
    if (at >= 0) {
      int start = slashes >= 0 && slashes < at ? slashes + 2 : Math.max(0, text.indexOf(':') + 1);
      String login = text.substring(Math.min(start, at), at);
      int colon = login.indexOf(':');
      String user = colon < 0 ? "" : login.substring(0, colon) + ":";
      shown = text.substring(0, Math.min(start, at)) + user + HIDDEN + text.substring(at);
    }
    return SECRET_PARAMETER.matcher(shown).replaceAll("$1" + HIDDEN);
  }

  @Override
  public String toString() {
    return hideSecrets(text);
  }
}
