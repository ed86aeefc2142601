package io.fenceline.spi;

import io.fenceline.settings.InvalidSettingException;
import java.util.Set;

/**
 * Decides whether an address asks for TLS, by one rule for all stores: the parameter {@code tls}
 * does, or a scheme, or an option that makes no sense without TLS. An address that contradicts
 * itself is refused, so that no password is sent in clear next to a certificate that should protect
 * it.
 */
public final class TlsSwitch {
  /** The parameter. */
  public static final String PARAMETER = "tls";

  private TlsSwitch() {}

  /**
   * Returns whether an address asks for TLS.
   *
   * @param byScheme whether its scheme does
   * @param options the parameters that make no sense without TLS
   * @throws InvalidSettingException if it asks for both, or for neither
   */
  public static boolean isOn(StoreAddress address, boolean byScheme, Set<String> options) {
    String told = address.parameters().get(PARAMETER);
    if (told != null && !told.equals("true") && !told.equals("false")) {
      throw address.invalid("tls must be true or false");
    }
    String option =
        address.parameters().keySet().stream().filter(options::contains).findFirst().orElse(null);
    if ("false".equals(told) && byScheme) {
      throw address.invalid(
          "the scheme asks for TLS, and tls=false turns it off; use one or the other");
    }
    if ("false".equals(told) && option != null) {
      throw address.invalid(
          "'" + option + "' needs TLS, and tls=false turns it off; use one or the other");
    }
    return byScheme || "true".equals(told) || option != null;
  }
}
