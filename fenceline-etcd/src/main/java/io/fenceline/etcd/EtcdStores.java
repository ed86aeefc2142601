package io.fenceline.etcd;

import io.etcd.jetcd.Client;
import io.fenceline.spi.StoreFactory;
import java.util.Objects;

/**
 * Stores over a jetcd client that you already have.
 *
 * <pre>{@code
 * Fenceline fenceline = Fenceline.builder().store(EtcdStores.over(client)).connect();
 * }</pre>
 *
 * <p>The client stays yours to close. After a long outage it connects again at gRPC's own pace,
 * which may be two minutes late; a client that Fenceline makes from a URI is replaced sooner.
 */
public final class EtcdStores {
  private EtcdStores() {}

  /** The store of a client, below the key {@code /fenceline}. */
  public static StoreFactory over(Client client) {
    return over(client, EtcdAddress.DEFAULT_ROOT);
  }

  /**
   * The store of a client.
   *
   * @param root what all keys start with, such as {@code /fenceline}
   */
  public static StoreFactory over(Client client, String root) {
    Objects.requireNonNull(client, "client");
    Objects.requireNonNull(root, "root");
    return context ->
        Opening.open(new Etcd(context, "etcd:given client", () -> client, false), root);
  }
}
