package io.fenceline.etcd;

import io.etcd.jetcd.Client;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.StoreFactory;
import java.util.Objects;
import java.util.function.Function;

/**
 * Locks in etcd, for a client to be connected to.
 *
 * <pre>{@code
 * Fenceline fenceline = Fenceline.builder().store(EtcdStore.from(client)).connect();
 * }</pre>
 *
 * <p>A jetcd client that you give stays yours to close. After a long outage it connects again at
 * gRPC's own pace, which may be two minutes late; a client that Fenceline makes from a URI is
 * replaced sooner. Give it jetcd 0.8.6 or later: before that, each wait for a lock leaves a watch
 * at the server, until the client is closed.
 *
 * <p>Immutable: each method gives a changed copy.
 */
public final class EtcdStore implements StoreFactory {
  private final Function<StoreContext, Etcd> client;
  private final String root;

  private EtcdStore(Function<StoreContext, Etcd> client, String root) {
    this.client = client;
    this.root = root;
  }

  /**
   * Locks at a URI: {@code etcd://[user:password@]host[:2379],host…[/root]}, with the parameters
   * {@code tls}, {@code ca}, {@code cert} and {@code key}.
   *
   * @throws InvalidSettingException if it is not one
   */
  public static EtcdStore at(String uri) {
    return at(StoreAddress.parse(uri));
  }

  static EtcdStore at(StoreAddress address) {
    EtcdAddress etcd = EtcdAddress.of(address);
    return new EtcdStore(
        context -> new Etcd(context, address.toString(), () -> etcd.connect(context), true),
        etcd.root());
  }

  /** Locks on a client that you already have, below the key {@code /fenceline}. */
  public static EtcdStore from(Client client) {
    Objects.requireNonNull(client, "client");
    return new EtcdStore(
        context -> new Etcd(context, "etcd:given client", () -> client, false),
        EtcdAddress.DEFAULT_ROOT);
  }

  /** What all keys start with; {@code /fenceline} by default. */
  public EtcdStore root(String start) {
    return new EtcdStore(client, Objects.requireNonNull(start, "start"));
  }

  @Override
  public LockStore open(StoreContext context) {
    return Opening.open(client.apply(context), root);
  }
}
