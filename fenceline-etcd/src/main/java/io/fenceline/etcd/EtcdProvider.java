package io.fenceline.etcd;

import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreFactory;
import io.fenceline.spi.StoreKind;
import io.fenceline.spi.StoreProvider;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * Finds etcd by {@code etcd://host:port,host:port/root?…}.
 *
 * <p>Hosts without a port have 2379, and a path is what all keys start with instead of {@code
 * /fenceline}. A user and a password go before the hosts. With TLS: {@code ?tls=true}, or {@code
 * ?ca=/path/ca.crt} for an authority of your own, and {@code
 * &cert=/path/client.crt&key=/path/client.key} for a client that shows a certificate.
 */
public final class EtcdProvider implements StoreProvider {

  /** What a server with the usual election timeout grants. */
  private static final Duration USUAL_SHORTEST = Duration.ofSeconds(2);

  /** For {@link java.util.ServiceLoader}. */
  public EtcdProvider() {}

  @Override
  public Set<String> schemes() {
    return Set.of("etcd");
  }

  @Override
  public List<StoreKind> kinds() {
    return List.of(
        new StoreKind(
            List.of("etcd://[user:password@]host[:2379][,host[:port]]…[/root][?ca=…&cert=…&key=…]"),
            StoreKind.Consistency.CP,
            "one round trip and one write to the logs of a majority, some 1 to 10 ms",
            EtcdStore.guarantees(USUAL_SHORTEST)));
  }

  @Override
  public StoreFactory at(StoreAddress address) {
    return EtcdStores.at(address);
  }
}
