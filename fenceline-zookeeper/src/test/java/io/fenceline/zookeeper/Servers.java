package io.fenceline.zookeeper;

import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreFactory;
import io.fenceline.testbed.server.ZooKeeperServer;
import java.time.Duration;

/** The server that tests share, which need none of their own. */
final class Servers {
  /** Short, so that sessions end soon; a server grants sessions of 2 to 20 ticks. */
  static final Duration TICK = Duration.ofMillis(300);

  static final Duration SESSION = TICK.multipliedBy(20);

  private static final class Single {
    static final ZooKeeperServer SERVER = ZooKeeperServer.start(TICK);
  }

  private Servers() {}

  /** One server, for all tests of this process; it ends with the process. */
  static ZooKeeperServer single() {
    return Single.SERVER;
  }

  static StoreFactory store(String servers) {
    return store(servers, SESSION);
  }

  static StoreFactory store(String servers, Duration session) {
    return new ZooKeeperProvider().at(StoreAddress.parse(uri(servers, session)));
  }

  static String uri(String servers, Duration session) {
    return "zookeeper://%s/test?session=%dms&tick=%dms"
        .formatted(servers, session.toMillis(), TICK.toMillis());
  }
}
