package io.fenceline.spi;

import io.fenceline.settings.InvalidSettingException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A parsed URI of a store; several hosts are allowed. Its {@code toString} hides secrets.
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
  private static final Pattern PASSWORD_KEY =
      Pattern.compile("(?i)\\w*(password|passwd|passphrase|pwd|secret)");
  private static final Pattern SECRET_IN_VALUE =
      Pattern.compile("(?i).*(pass|pwd|secret|token|credential)\\w*[:=].*");
  private static final Pattern PARAMETER_IN_PATH = Pattern.compile("(?s).*[&;].*=.*");
  private static final Pattern HOST =
      Pattern.compile("[\\p{L}\\p{N}._-]+|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(%[\\w.-]+)?");
  private static final Pattern WORD = Pattern.compile("[\\p{L}\\p{N}._-]+");
  private static final Pattern PLAIN_PATH = Pattern.compile("[^@:;=#\\p{C}]*");
  private static final Pattern LOGIN = Pattern.compile("(?s).*[:=].*(@|%40).*");
  private static final Pattern PLAIN_VALUE = Pattern.compile("[^@;=#&?\\p{C}]*");
  private static final Set<String> FILES = Set.of("sqlite", "jdbc:sqlite", "memory");
  private static final String HIDDEN = "***";

  private final String text;
  private final String scheme;
  private final boolean hasAuthority;
  private final boolean hasPassword;
  private final Optional<String> user;
  private final Optional<String> password;
  private final List<HostPort> hosts;
  private final String path;
  private final List<Parameter> parameters;

  /** A parameter as it was given, and what it means. */
  private record Parameter(String rawKey, Optional<String> rawValue, String key, String value) {}

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
      throw new InvalidSettingException(
          "store address",
          HIDDEN,
          "a store address starts with a scheme, such as sqlite: or redis://");
    }
    this.scheme = shape.group("scheme").toLowerCase(Locale.ROOT);
    String rest = shape.group("rest");
    int query = rest.indexOf('?');
    this.parameters = query < 0 ? List.of() : parameters(rest.substring(query + 1));
    if (isJdbc() && parameters.stream().anyMatch(each -> !each.key().equals(each.rawKey()))) {
      // One driver would read it as sslmode, another would not know it, and ignore it.
      throw unreadable("drivers of JDBC don't decode the names of parameters; write them plainly");
    }
    String place = query < 0 ? rest : rest.substring(0, query);
    this.hasAuthority = place.startsWith("//");
    if (!hasAuthority) {
      this.hasPassword = false;
      this.user = Optional.empty();
      this.password = Optional.empty();
      this.hosts = List.of();
      this.path = place;
      if (place.contains("://") || (isFile() && LOGIN.matcher(rest).matches())) {
        throw unreadable("after the scheme comes the path of a file, or // and a host");
      }
      return;
    }
    int slash = place.indexOf('/', 2);
    String authority = slash < 0 ? place.substring(2) : place.substring(2, slash);
    this.path = slash < 0 ? "" : place.substring(slash);
    int at = authority.lastIndexOf('@');
    if (!isJdbc() && rest.indexOf('@', "//".length() + at + 1) >= 0) {
      // A password with a slash or a question mark would be read as a host and what follows it.
      throw unreadable("in a login write / as %2F and ? as %3F; behind the hosts, @ as %40");
    }
    String login = at < 0 ? "" : authority.substring(0, at);
    int colon = login.indexOf(':');
    this.hasPassword = colon >= 0;
    this.user = nonEmpty(decode(colon < 0 ? login : login.substring(0, colon)));
    this.password = colon < 0 ? Optional.empty() : nonEmpty(decode(login.substring(colon + 1)));
    this.hosts = hosts(authority.substring(at + 1));
  }

  private boolean isFile() {
    return FILES.contains(scheme);
  }

  private boolean isJdbc() {
    return scheme.startsWith("jdbc:");
  }

  /**
   * Parses an address.
   *
   * @throws InvalidSettingException if it is not one; the message hides secrets
   */
  public static StoreAddress parse(String text) {
    return new StoreAddress(text);
  }

  /**
   * Returns the scheme, with the kind of database for JDBC: {@code redis}, {@code jdbc:postgresql}.
   */
  public String scheme() {
    return scheme;
  }

  /** Returns the whole address as it was given, secrets included; for drivers, not for messages. */
  public String secretText() {
    return text;
  }

  /** Returns the user, where the address names one. */
  public Optional<String> user() {
    return user;
  }

  /** Returns the password, where the address has one; not for messages. */
  public Optional<String> password() {
    return password;
  }

  /** Returns the hosts, in order; empty where the address has none. */
  public List<HostPort> hosts() {
    return hosts;
  }

  /** Returns what follows the hosts, or the scheme where there are none; may be empty. */
  public String path() {
    return path;
  }

  /** Returns the parameters after the question mark. */
  public Map<String, String> parameters() {
    Map<String, String> all = new LinkedHashMap<>();
    parameters.forEach(parameter -> all.put(parameter.key(), parameter.value()));
    return Collections.unmodifiableMap(all);
  }

  /**
   * Checks that the store knows all parameters.
   *
   * @throws InvalidSettingException that names the first unknown one
   */
  public void checkParameters(Set<String> known) {
    boolean afterSecret = !hasAuthority; // Then all of it may be a login.
    for (Parameter parameter : parameters) {
      if (!known.contains(parameter.key())) {
        boolean shown = !afterSecret && WORD.matcher(parameter.key()).matches();
        throw invalid(
            "there is no parameter "
                + (shown ? parameter.key() : HIDDEN)
                + "; there are "
                + known.stream().sorted().collect(Collectors.joining(", ")));
      }
      afterSecret |= !isPlain(parameter);
    }
  }

  /** Returns whether a parameter of this name may have a secret as its value. */
  public static boolean isSecret(String parameter) {
    return SECRET_KEY.matcher(parameter).matches();
  }

  /**
   * Returns the address without anything that may be a secret, and without a mark in its place: it
   * can be given to another process that knows the secret.
   */
  public String withoutSecrets() {
    return show(false);
  }

  /**
   * As {@link #withoutSecrets}, if only passwords are missing, so that it leads to the same place
   * in the same way. Empty otherwise: without what follows a secret, or without a key that turns
   * TLS on, it would be the address of another store.
   */
  public Optional<String> forOthers() {
    String shown = withoutSecrets();
    StoreAddress other;
    try {
      other = parse(shown);
    } catch (InvalidSettingException e) {
      return Optional.empty();
    }
    List<String> counting = new ArrayList<>();
    parameters.stream()
        .filter(parameter -> !PASSWORD_KEY.matcher(parameter.key()).matches())
        .forEach(parameter -> counting.add(parameter.key() + "=" + parameter.value()));
    List<String> kept = new ArrayList<>();
    other.parameters.forEach(parameter -> kept.add(parameter.key() + "=" + parameter.value()));
    boolean isSame =
        other.scheme.equals(scheme)
            && other.hasAuthority == hasAuthority
            // As text: the first comparison of two records generates code, which takes a while.
            && other.hosts.toString().equals(hosts.toString())
            && other.path.equals(path)
            && other.user.equals(user)
            && kept.equals(counting);
    return isSame ? Optional.of(shown) : Optional.empty();
  }

  /** Returns an error about this address; it hides the secrets. */
  public InvalidSettingException invalid(String whatToDo) {
    return new InvalidSettingException("store address", show(true), whatToDo);
  }

  /** An error about an address that can't be parsed: it hides all, as secrets may be anywhere. */
  private InvalidSettingException unreadable(String whatToDo) {
    return new InvalidSettingException("store address", scheme + ":" + HIDDEN, whatToDo);
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
        throw unreadable("a host is missing");
      }
      if (!isJdbc() && !HOST.matcher(host).matches()) {
        throw unreadable("a host has letters, digits, dots and dashes");
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
    throw unreadable("the port must be a number from 1 to 65535");
  }

  private List<Parameter> parameters(String query) {
    List<Parameter> found = new ArrayList<>();
    for (String pair : query.split("&", -1)) {
      if (pair.isEmpty()) {
        continue;
      }
      int equals = pair.indexOf('=');
      String key = equals < 0 ? pair : pair.substring(0, equals);
      String value = equals < 0 ? "" : pair.substring(equals + 1);
      Optional<String> given = equals < 0 ? Optional.empty() : Optional.of(value);
      found.add(new Parameter(key, given, decode(key), decode(value)));
    }
    return List.copyOf(found);
  }

  private String decode(String encoded) {
    try {
      // URLDecoder turns '+' into a space, which is meant for forms and would spoil a password.
      return URLDecoder.decode(encoded.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw unreadable("a percent sign must be followed by two hexadecimal digits");
    }
  }

  private static Optional<String> nonEmpty(String text) {
    return text.isEmpty() ? Optional.empty() : Optional.of(text);
  }

  // What is shown: put together from parts that are known to be harmless. Nothing is cut out of the
  // text, since nobody knows where a secret ends in it.

  /**
   * The address without its secrets.
   *
   * @param marks whether three asterisks stand where something was left out
   */
  private String show(boolean marks) {
    StringBuilder shown = new StringBuilder(scheme).append(':');
    if (!hasAuthority) {
      if (!path.isEmpty() && !isPlainFile()) {
        return shown.append(HIDDEN).toString();
      }
      shown.append(path);
    } else {
      if (!PLAIN_PATH.matcher(path).matches() || (isJdbc() && hasLogin())) {
        return shown.append(HIDDEN).toString();
      }
      String place = hosts.stream().map(StoreAddress::show).collect(Collectors.joining(","));
      shown.append("//").append(login(marks)).append(place).append(path);
    }
    String separator = "?";
    for (Parameter parameter : parameters) {
      String text = show(parameter, marks);
      shown.append(text.isEmpty() ? "" : separator + text);
      separator = text.isEmpty() ? separator : "&";
      if (!isPlain(parameter)) {
        break; // What follows may be the rest of a secret that has an ampersand.
      }
    }
    return shown.toString();
  }

  private boolean isPlainFile() {
    return isFile()
        && !SECRET_IN_VALUE.matcher(path).matches()
        && !PARAMETER_IN_PATH.matcher(path).matches();
  }

  /** No driver looks for a login in a JDBC address, so it is unknown where one would end. */
  private boolean hasLogin() {
    return hasPassword || user.isPresent();
  }

  /** A login without a colon is hidden whole, because some drivers read it as a password. */
  private String login(boolean marks) {
    String name = user.filter(text -> WORD.matcher(text).matches()).orElse(HIDDEN);
    if (marks && hasPassword) {
      return (user.isPresent() ? name : "") + ":" + HIDDEN + "@";
    } else if (marks) {
      return user.isPresent() ? HIDDEN + "@" : "";
    }
    return user.isPresent() ? name + "@" : "";
  }

  private static String show(HostPort host) {
    return HOST.matcher(host.host()).matches() ? host.toString() : HIDDEN;
  }

  private static boolean isPlainKey(Parameter parameter) {
    return WORD.matcher(parameter.key()).matches() && parameter.key().equals(parameter.rawKey());
  }

  private static boolean isPlain(Parameter parameter) {
    return isPlainKey(parameter)
        && !isSecret(parameter.key())
        && PLAIN_VALUE.matcher(parameter.value()).matches()
        && PLAIN_VALUE.matcher(parameter.rawValue().orElse("")).matches()
        && !SECRET_IN_VALUE.matcher(parameter.value()).matches();
  }

  private static String show(Parameter parameter, boolean marks) {
    if (isPlain(parameter)) {
      return parameter.rawKey() + parameter.rawValue().map(value -> "=" + value).orElse("");
    } else if (!marks) {
      return "";
    }
    return isPlainKey(parameter) ? parameter.key() + "=" + HIDDEN : HIDDEN;
  }

  @Override
  public String toString() {
    return show(true);
  }
}
