package io.fenceline.spi;

import io.fenceline.diagnosis.PlainText;

/**
 * Describes a client to people: shown by inspection, never compared.
 *
 * <p>Whoever can write to the store chooses these texts, and they end up in logs and terminals. So
 * control characters are replaced: no terminal obeys them, and none begins a new line.
 *
 * @param label as given by the user; the host and process id unless given
 * @param host name of the machine
 * @param pid process id
 */
public record ClientInfo(String label, String host, long pid) {

  /** Replaces control and format characters. */
  public ClientInfo {
    label = PlainText.of(label);
    host = PlainText.of(host);
  }
}
