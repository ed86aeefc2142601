package io.fenceline.jdbc.connection;

import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.StoreAddress;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Options of TLS in a URL of JDBC: the drivers' own, and none of them turns TLS on. A driver that
 * is given a certificate and no mode speaks in clear, or does so as soon as the server says that it
 * can't do better. So such a URL is refused unless its mode insists on TLS.
 */
public final class TlsOptions {
  private static final Set<String> OF_POSTGRESQL =
      Set.of("sslrootcert", "sslcert", "sslkey", "sslpassword", "sslhostnameverifier");
  private static final Set<String> OF_MARIADB =
      Set.of(
          "serversslcert",
          "keystore",
          "keystorepassword",
          "truststore",
          "truststorepassword",
          "trustcertificatekeystoreurl",
          "clientcertificatekeystoreurl");
  private static final Set<String> INSISTING =
      Set.of(
          "require",
          "required",
          "trust",
          "verify-ca",
          "verify_ca",
          "verify-full",
          "verify_identity");
  private static final Set<String> SWITCHES = Set.of("ssl", "usessl", "requiressl");

  private TlsOptions() {}

  /**
   * Returns the address, if it does not contradict itself.
   *
   * @throws InvalidSettingException if an option of TLS is given, and TLS is not insisted on
   */
  public static StoreAddress check(StoreAddress address) {
    boolean isPostgres = address.scheme().equals("jdbc:postgresql");
    Map<String, String> parameters = new TreeMap<>();
    // PostgreSQL's driver ignores a name that is not in lower case; MariaDB's does not mind.
    address
        .parameters()
        .forEach((key, value) -> parameters.put(isPostgres ? key : lower(key), lower(value)));
    String mode = parameters.get("sslmode");
    boolean insists =
        mode == null
            ? SWITCHES.stream().anyMatch(key -> "true".equals(parameters.get(key)))
            : INSISTING.contains(mode);
    Set<String> options = isPostgres ? OF_POSTGRESQL : OF_MARIADB;
    for (String key : address.parameters().keySet()) {
      if (options.contains(lower(key)) && !insists) {
        throw address.invalid(
            "'%s' has no effect unless TLS is required: add %s"
                .formatted(key, insisting(address.scheme())));
      }
    }
    return address;
  }

  private static String insisting(String scheme) {
    return switch (scheme) {
      case "jdbc:postgresql" -> "sslmode=verify-full";
      case "jdbc:mysql" -> "sslMode=VERIFY_IDENTITY";
      default -> "sslMode=verify-full";
    };
  }

  private static String lower(String text) {
    return text.toLowerCase(Locale.ROOT);
  }
}
