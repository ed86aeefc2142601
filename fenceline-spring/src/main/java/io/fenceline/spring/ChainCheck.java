package io.fenceline.spring;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ReflectionUtils;

/**
 * Looks at the proxies as they really are: a lock inside of its transaction is released before the
 * commit, and one outside of {@code @Async} is released before the work begins.
 *
 * <p>Not ordered, so that it comes after all post-processors that are.
 */
final class ChainCheck implements BeanPostProcessor, SmartInitializingSingleton {
  private final ConfigurableListableBeanFactory beans;
  private final LockedOperations operations;
  private final Set<Class<?>> passed = ConcurrentHashMap.newKeySet();

  ChainCheck(ConfigurableListableBeanFactory beans, LockedOperations operations) {
    this.beans = beans;
    this.operations = operations;
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String beanName) {
    check(bean);
    return bean;
  }

  /** For beans that were made before this was there; they have no proxy, either. */
  @Override
  public void afterSingletonsInstantiated() {
    for (String name : beans.getSingletonNames()) {
      Object bean = beans.getSingleton(name);
      if (bean != null) {
        check(bean);
      }
    }
  }

  private void check(Object bean) {
    Class<?> type = AopProxyUtils.ultimateTargetClass(bean);
    if (!LockedOperations.mayHave(type) || passed.contains(type)) {
      return;
    }
    for (Method method : ReflectionUtils.getUniqueDeclaredMethods(type)) {
      LockedOperation operation = operations.of(method, type);
      if (operation != null) {
        check(bean, type, method, operation.described());
      }
    }
    passed.add(type);
  }

  private static void check(Object bean, Class<?> type, Method method, String described) {
    int modifiers = method.getModifiers();
    if (Modifier.isPrivate(modifiers) || Modifier.isStatic(modifiers)) {
      throw InvalidMethods.found(
          described, "no proxy sees a private or static method", "Make it public");
    }
    if (Modifier.isFinal(modifiers) && AopUtils.isCglibProxy(bean)) {
      throw InvalidMethods.found(
          described, "no proxy sees a final method", "Remove 'final' from the method");
    }
    List<Advisor> advisors = chain(bean);
    int lock = -1;
    for (int i = 0; i < advisors.size(); i++) {
      if (advisors.get(i) instanceof LockedAdvisor) {
        lock = i;
      }
    }
    if (lock < 0) {
      throw InvalidMethods.found(
          described,
          "its bean has no proxy, so nothing would lock it",
          "It is needed by a BeanPostProcessor, say, and made too early: break that dependency");
    }
    for (int i = 0; i < advisors.size(); i++) {
      if (i != lock && applies(advisors.get(i), method, type)) {
        Object advice = advisors.get(i).getAdvice();
        if (i < lock && Transactions.isAdvice(advice)) {
          throw InvalidMethods.found(
              described,
              "its transaction is outside of the lock, which would be released before the commit",
              "Give @EnableTransactionManagement an order above that of @EnableLocked, or none");
        }
        if (i > lock && advice instanceof AsyncExecutionInterceptor) {
          throw InvalidMethods.found(
              described,
              "@Async is inside of the lock, which would be released before the work is done",
              "Leave the order of @EnableAsync as it is");
        }
      }
    }
  }

  /** The advisors from the outside to the inside, also of a proxy around another proxy. */
  private static List<Advisor> chain(Object bean) {
    List<Advisor> chain = new ArrayList<>();
    for (Object proxy = bean; proxy instanceof Advised advised; ) {
      chain.addAll(List.of(advised.getAdvisors()));
      proxy = AopProxyUtils.getSingletonTarget(proxy);
    }
    return chain;
  }

  private static boolean applies(Advisor advisor, Method method, Class<?> type) {
    return !(advisor instanceof PointcutAdvisor pointed)
        || (pointed.getPointcut().getClassFilter().matches(type)
            && pointed.getPointcut().getMethodMatcher().matches(method, type));
  }
}
