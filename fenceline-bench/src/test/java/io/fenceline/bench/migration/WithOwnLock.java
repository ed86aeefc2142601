package io.fenceline.bench.migration;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

final class WithOwnLock {
  private static final String[] KEY = {"lock:ledger"};
  private static final String IF_OURS = "if redis.call('get', KEYS[1]) == ARGV[1] then return ";
  private static final String EXTEND = IF_OURS + "redis.call('pexpire', KEYS[1], 30000) end";
  private static final String DELETE = IF_OURS + "redis.call('del', KEYS[1]) end";

  private WithOwnLock() {}

  static void run(String address, Runnable work) throws InterruptedException {
    RedisClient client = RedisClient.create(address);
    RedisCommands<String, String> redis = client.connect().sync();
    ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    String owner = UUID.randomUUID().toString();
    for (int attempt = 0; attempt < 100; attempt++) {
      if (redis.set(KEY[0], owner, SetArgs.Builder.nx().px(30_000)) != null) {
        Runnable extend = () -> redis.eval(EXTEND, ScriptOutputType.INTEGER, KEY, owner);
        ScheduledFuture<?> watchdog = timer.scheduleAtFixedRate(extend, 10, 10, TimeUnit.SECONDS);
        try {
          work.run();
        } finally {
          watchdog.cancel(false);
          redis.eval(DELETE, ScriptOutputType.INTEGER, KEY, owner);
        }
        break;
      }
      Thread.sleep(100);
    }
    timer.shutdown();
    client.shutdown();
  }
}
