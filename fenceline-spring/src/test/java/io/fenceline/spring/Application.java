package io.fenceline.spring;

import io.fenceline.Fenceline;
import io.fenceline.memory.MemorySpace;
import io.fenceline.time.Time;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;

/** A small application with locks in memory, and another client of the same locks outside of it. */
final class Application implements AutoCloseable {
  private final AnnotationConfigApplicationContext context =
      new AnnotationConfigApplicationContext();
  private final MemorySpace space;
  private final Fenceline client;
  private final Fenceline other;

  private Application(LongSupplier clock, Time time) {
    space = MemorySpace.create(clock);
    client = connect(time);
    other = connect(time);
  }

  private Fenceline connect(Time time) {
    var builder = Fenceline.builder().store(space.factory());
    return (time == null ? builder : builder.time(time)).connect();
  }

  static Application start(Class<?>... beans) {
    return start(null, beans);
  }

  /** The same, in a time that the test owns; null for the machine's. */
  static Application start(Time time, Class<?>... beans) {
    return start(time, EnabledByDefault.class, List.of(beans));
  }

  /** The same, with a configuration that enables locking in its own way. */
  static Application startEnabledBy(Class<?> enabled, Class<?>... beans) {
    return start(null, enabled, List.of(beans));
  }

  private static Application start(Time time, Class<?> enabled, List<Class<?>> beans) {
    Application application =
        new Application(time == null ? System::currentTimeMillis : time::wallMillis, time);
    try {
      application.context.registerBean("fenceline", Fenceline.class, () -> application.client);
      application
          .context
          .getEnvironment()
          .getPropertySources()
          .addFirst(new MapPropertySource("test", Map.of("app.region", "eu", "app.wait", "0s")));
      // A test may compile its beans itself.
      application.context.setClassLoader(beans.get(0).getClassLoader());
      application.context.register(enabled);
      application.context.register(beans.toArray(Class<?>[]::new));
      application.context.refresh();
      return application;
    } catch (RuntimeException e) {
      application.close();
      throw e;
    }
  }

  <T> T bean(Class<T> type) {
    return context.getBean(type);
  }

  <T> T bean(String name, Class<T> type) {
    return context.getBean(name, type);
  }

  Fenceline client() {
    return client;
  }

  /** A process elsewhere that wants the same locks. */
  Fenceline other() {
    return other;
  }

  boolean isFree(String lock) {
    return other.inspect(lock).isFree();
  }

  @Override
  public void close() {
    context.close();
    client.close();
    other.close();
  }

  /** Subclass proxies, as Spring Boot makes them. */
  @Configuration(proxyBeanMethods = false)
  @EnableLocked(proxyTargetClass = true)
  static class EnabledByDefault {}
}
