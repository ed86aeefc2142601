package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.memory.MemorySpace;
import io.fenceline.settings.HandOff;
import io.fenceline.spi.LockStore;
import io.fenceline.spi.StoreFactory;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * A store that makes releases on the threads of their callers, where an answer does not come.
 * {@link StoreProxy} would show each of them as a release, on whichever thread.
 */
class ReleaseByItsCallerTest {
  private static final Duration BOUND = Duration.ofSeconds(60);

  private final MemorySpace space = MemorySpace.create(System::currentTimeMillis);
  private final CountDownLatch answered = new CountDownLatch(1);
  private final List<String> releases = new CopyOnWriteArrayList<>();

  private StoreFactory store() {
    return context -> {
      LockStore store = space.factory().open(context);
      return (LockStore)
          Proxy.newProxyInstance(
              LockStore.class.getClassLoader(),
              new Class<?>[] {LockStore.class},
              (proxy, method, arguments) -> call(store, method, arguments));
    };
  }

  private Object call(LockStore store, Method method, Object[] arguments) throws Throwable {
    if (method.getName().startsWith("release")) {
      releases.add(method.getName());
    }
    try {
      Object done = method.invoke(store, arguments);
      if (method.getName().equals("releaseHere")) {
        answered.await();
      }
      return done;
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private Fenceline connect() {
    return Fenceline.builder().store(store()).handOff(HandOff.NONE).connect();
  }

  @Test
  void thoseWhoWaitBehindIt_areClaimedFor_beforeItIsAnswered() throws Exception {
    try (Fenceline client = connect()) {
      Hold hold = client.lock("ledger").tryAcquire().orElseThrow();
      CompletableFuture<Hold> next = client.lock("ledger").acquireAsync(BOUND.multipliedBy(2));
      Thread releasing = new Thread(hold::release);
      releasing.start();
      try {
        assertThat(next.get(BOUND.toSeconds(), TimeUnit.SECONDS).isValid()).isTrue();
      } finally {
        answered.countDown();
        releasing.join();
      }
    }
  }

  @Test
  void withNobodyBehindIt_itsCallerMakesIt() {
    answered.countDown();
    try (Fenceline client = connect()) {
      client.lock("ledger").tryAcquire().orElseThrow().release();
      assertThat(releases).containsExactly("releaseHere");
    }
  }
}
