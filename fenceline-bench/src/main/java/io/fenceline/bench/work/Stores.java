package io.fenceline.bench.work;

import io.fenceline.Fenceline;
import io.fenceline.bench.store.Venue;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreFactory;
import io.fenceline.spi.StoreProvider;
import java.time.Duration;
import java.util.ServiceLoader;

/** The stores of a venue as Fenceline's runtime sees them, without the runtime between. */
final class Stores {
  /** Connecting is not measured, and a busy machine may take its time. */
  static final Duration CONNECT = Duration.ofMinutes(5);

  private Stores() {}

  /**
   * A client, and its store.
   *
   * @param client to be closed
   * @param store of the client, closed with it
   */
  record Opened(Fenceline client, LockStore store) implements AutoCloseable {
    @Override
    public void close() {
      client.close();
    }
  }

  @SuppressWarnings("MustBeClosedChecker") // Closed with what is returned.
  static Opened open(Venue venue) {
    StoreAddress address = StoreAddress.parse(venue.address());
    StoreFactory factory =
        ServiceLoader.load(StoreProvider.class).stream()
            .map(ServiceLoader.Provider::get)
            .filter(provider -> provider.schemes().contains(address.scheme()))
            .findFirst()
            .orElseThrow()
            .at(address);
    LockStore[] store = new LockStore[1];
    Fenceline client =
        Fenceline.builder()
            .store(
                (StoreFactory)
                    context -> {
                      store[0] = factory.open(context);
                      return store[0];
                    })
            .connectTimeout(CONNECT)
            .connect();
    return new Opened(client, store[0]);
  }
}
