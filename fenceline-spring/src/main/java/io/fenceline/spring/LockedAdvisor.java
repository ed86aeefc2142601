package io.fenceline.spring;

import java.lang.reflect.Method;
import org.aopalliance.aop.Advice;
import org.springframework.aop.Pointcut;
import org.springframework.aop.support.AbstractPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;

/** Finds the locked methods of beans. What is wrong with one of them fails its bean, at start. */
final class LockedAdvisor extends AbstractPointcutAdvisor {
  private static final long serialVersionUID = 1L;

  // Neither is written to a stream, nor is this.
  private final transient Pointcut pointcut;
  private final transient LockedInterceptor interceptor;

  LockedAdvisor(LockedOperations operations, LockedInterceptor interceptor, int order) {
    StaticMethodMatcherPointcut locked =
        new StaticMethodMatcherPointcut() {
          @Override
          public boolean matches(Method method, Class<?> targetClass) {
            return operations.of(method, targetClass) != null;
          }
        };
    locked.setClassFilter(LockedOperations::mayHave);
    this.pointcut = locked;
    this.interceptor = interceptor;
    setOrder(order);
  }

  @Override
  public Pointcut getPointcut() {
    return pointcut;
  }

  @Override
  public Advice getAdvice() {
    return interceptor;
  }
}
