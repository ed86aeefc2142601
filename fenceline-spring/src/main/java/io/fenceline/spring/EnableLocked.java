package io.fenceline.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Import;

/**
 * Makes {@link Locked} work in an application without Spring Boot, which needs a bean of type
 * {@link io.fenceline.Fenceline} for it. Also provides a {@link LockTemplate}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Import({LockedConfiguration.class, LockedConfiguration.Registrar.class})
public @interface EnableLocked {

  /** Whether proxies are subclasses even of beans that have interfaces. */
  boolean proxyTargetClass() default false;

  /**
   * Where the lock stands among the advisors of a method. The default is outside of transactions,
   * caches and everything else that says nothing of its order.
   */
  int order() default LockedConfiguration.ORDER;
}
