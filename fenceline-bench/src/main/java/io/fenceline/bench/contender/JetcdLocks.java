package io.fenceline.bench.contender;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.etcd.jetcd.Lock;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.grpc.stub.StreamObserver;

/**
 * etcd's lock service through jetcd. Claims on one lease are one claim, so every thread has a lease
 * of its own, made before the clock runs and kept alive.
 */
final class JetcdLocks implements Contender {
  private static final long LEASE_SECONDS = 30;

  private final Client client;
  private final ThreadLocal<Long> leases = new ThreadLocal<>();

  JetcdLocks(String address) {
    this.client = builder(address).build();
  }

  static ClientBuilder builder(String address) {
    return Client.builder().endpoints(address.replace("etcd://", "http://"));
  }

  /** A lease that is kept alive until the client is closed. */
  static long lease(Client client) throws Exception {
    long id = client.getLeaseClient().grant(LEASE_SECONDS).get().getID();
    client.getLeaseClient().keepAlive(id, new Ignored());
    return id;
  }

  private static final class Ignored implements StreamObserver<LeaseKeepAliveResponse> {
    @Override
    public void onNext(LeaseKeepAliveResponse value) {}

    @Override
    public void onError(Throwable failure) {}

    @Override
    public void onCompleted() {}
  }

  @Override
  public Cycle on(String name) throws Exception {
    Lock lock = client.getLockClient();
    ByteSequence key = ByteSequence.from("/jetcd/" + name, UTF_8);
    Long known = leases.get();
    if (known == null) {
      known = lease(client);
      leases.set(known);
    }
    long lease = known;
    return section -> {
      ByteSequence held = lock.lock(key, lease).get().getKey();
      try {
        section.run(0);
      } finally {
        lock.unlock(held).get();
      }
    };
  }

  @Override
  public void close() {
    client.close();
  }
}
