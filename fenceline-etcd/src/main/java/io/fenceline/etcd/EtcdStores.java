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
 * Settings of an etcd store, for {@code FencelineBuilder.store}.
 *
 * <pre>{@code
 * Fenceline fenceline = Fenceline.builder().store(EtcdStores.from(client)).connect();
 * }</pre>
 *
 * <p>A jetcd client that you give stays yours to close. After a long outage it connects again at
 * gRPC's own pace, which may be two minutes late; a client that Fenceline makes from a URI is
 * replaced sooner. Give it jetcd 0.8.6 or later: before that, each wait for a lock leaves a watch
 * at the server, until the client is closed.
 *
 * <p>Immutable: each method returns a changed copy.
 */
public final class EtcdStores implements StoreFactory {
  private final Function<StoreContext, EtcdClient> client;
  private final String root;

  private EtcdStores(Function<StoreContext, EtcdClient> client, String root) {
    this.client = client;
    this.root = root;
  }

  /**
   * Returns the settings of a store at a URI: {@code
   * etcd://[user:password@]host[:2379],host…[/root]}, with the parameters {@code tls}, {@code ca},
   * {@code cert} and {@code key}.
   *
   * @throws InvalidSettingException if it is not such a URI
   */
  public static EtcdStores at(String uri) {
    return at(StoreAddress.parse(uri));
  }

  static EtcdStores at(StoreAddress address) {
    EtcdAddress etcd = EtcdAddress.of(address);
    return new EtcdStores(
        context -> new EtcdClient(context, address.toString(), () -> etcd.connect(context), true),
        etcd.root());
  }

  /**
   * Returns the settings of a store on a client that you have, below the key {@code /fenceline}.
   */
  public static EtcdStores from(Client client) {
    Objects.requireNonNull(client, "client");
    return new EtcdStores(
        context -> new EtcdClient(context, "etcd:given client", () -> client, false),
        EtcdAddress.DEFAULT_ROOT);
  }

  /** Sets what all keys start with; {@code /fenceline} by default. */
  public EtcdStores root(String start) {
    return new EtcdStores(client, Objects.requireNonNull(start, "start"));
  }

  @Override
  public LockStore open(StoreContext context) {
    return StoreOpener.open(client.apply(context), root);
  }
}
