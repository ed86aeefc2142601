package io.fenceline.bench.contender;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.util.concurrent.MoreExecutors;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.watch.WatchEvent;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Taking turns in etcd without a lock: a ring of processes, each with a key that it watches.
 * Whoever is done writes the key of the next, which enters on that event; the event's revision is
 * the number, so that no transaction is needed.
 */
final class EtcdRing implements Contender {
  private static final ByteSequence VALUE = ByteSequence.from(new byte[100]);

  private final Place place = Place.here();
  private final Client client;
  private final KV kv;

  EtcdRing(String address) {
    this.client =
        JetcdLocks.builder(address)
            .executorService(MoreExecutors.newDirectExecutorService())
            .interceptor(new EtcdFloor.OnNettysThread())
            .build();
    this.kv = client.getKVClient();
  }

  @Override
  public Cycle on(String name) throws Exception {
    LinkedBlockingQueue<Long> turns = new LinkedBlockingQueue<>();
    ByteSequence next = key(name, place.next());
    Watch.Watcher unused =
        client
            .getWatchClient()
            .watch(
                key(name, place.index()),
                response -> {
                  for (WatchEvent event : response.getEvents()) {
                    turns.add(event.getKeyValue().getModRevision());
                  }
                });
    ByteSequence ready = ByteSequence.from("/ring-ready/" + name + "/" + place.index(), UTF_8);
    kv.put(ready, VALUE).get();
    boolean[] first = {place.index() == 0};
    return section -> {
      Long number = 1L;
      if (first[0]) {
        for (int i = 0; i < place.count(); i++) {
          while (kv.get(ByteSequence.from("/ring-ready/" + name + "/" + i, UTF_8)).get().getCount()
              == 0) {
            Thread.sleep(1);
          }
        }
      } else {
        number = turns.poll(Floors.LONGEST_WAIT_MILLIS, TimeUnit.MILLISECONDS);
        if (number == null) {
          return;
        }
      }
      first[0] = false;
      section.run(number);
      kv.put(next, VALUE).get();
    };
  }

  private static ByteSequence key(String name, int index) {
    return ByteSequence.from("/ring/" + name + "/" + index, UTF_8);
  }

  @Override
  public void close() {
    client.close();
  }
}
