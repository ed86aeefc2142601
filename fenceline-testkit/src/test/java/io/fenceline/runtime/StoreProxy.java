package io.fenceline.runtime;

import io.fenceline.spi.LockStore;
import io.fenceline.spi.StoreFactory;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** A real store with something in front of it. */
final class StoreProxy {
  private StoreProxy() {}

  /** What is done with a call. */
  interface Front {
    /**
     * Answers a call, for which {@code store} can be asked. What the store leaves to a default of
     * {@code LockStore} is seen as what that calls: a claim is a {@code claim}, on whichever
     * thread.
     */
    Object call(Method method, Object[] arguments, Store store) throws Throwable;
  }

  /** The store behind it. */
  interface Store {
    /** Passes a call on. */
    Object ask() throws Throwable;
  }

  static StoreFactory over(StoreFactory factory, Front front) {
    return context -> {
      LockStore store = factory.open(context);
      return (LockStore)
          Proxy.newProxyInstance(
              LockStore.class.getClassLoader(),
              new Class<?>[] {LockStore.class},
              (proxy, method, arguments) ->
                  isLeftToDefault(store, method)
                      ? InvocationHandler.invokeDefault(proxy, method, arguments)
                      : front.call(method, arguments, () -> pass(store, method, arguments)));
    };
  }

  private static boolean isLeftToDefault(LockStore store, Method method)
      throws NoSuchMethodException {
    return store.getClass().getMethod(method.getName(), method.getParameterTypes()).isDefault();
  }

  private static Object pass(LockStore store, Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(store, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
