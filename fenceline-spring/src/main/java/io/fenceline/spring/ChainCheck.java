package io.fenceline.spring;

import io.fenceline.Fenceline;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ReflectionUtils;

/**
 * Looks at the proxies as they really are: a lock inside of its transaction is released before the
 * commit, and one outside of {@code @Async} is released before the work begins. Also whether the
 * client of each lock is there.
 *
 * <p>Not ordered, so that it comes after all post-processors that are.
 */
final class ChainCheck implements BeanPostProcessor, SmartInitializingSingleton {
  private final ConfigurableListableBeanFactory beans;
  private final LockedOperations operations;
  private final Function<String, Fenceline> clients;
  private final Set<Class<?>> passed = ConcurrentHashMap.newKeySet();

  /** Whose clients are looked for when all singletons are there. */
  private final Queue<LockedOperation> found = new ConcurrentLinkedQueue<>();

  private volatile boolean started;

  /**
   * A check of one application.
   *
   * @param clients a client by what an annotation calls it
   */
  ChainCheck(
      ConfigurableListableBeanFactory beans,
      LockedOperations operations,
      Function<String, Fenceline> clients) {
    this.beans = beans;
    this.operations = operations;
    this.clients = clients;
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
    started = true;
    checkClients();
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
        found.add(operation);
      }
    }
    passed.add(type);
    if (started) {
      checkClients();
    }
  }

  private void checkClients() {
    for (LockedOperation operation = found.poll(); operation != null; operation = found.poll()) {
      checkClient(operation);
    }
  }

  /** Does not make a client that is made only when it is needed. */
  private void checkClient(LockedOperation operation) {
    List<String> names = List.of(beans.getBeanNamesForType(Fenceline.class, true, false));
    if (!names.stream().allMatch(beans::containsSingleton)) {
      return;
    }
    String client = operation.client();
    try {
      Objects.requireNonNull(clients.apply(client), "client");
    } catch (NoUniqueBeanDefinitionException e) {
      throw InvalidMethods.found(
          operation.described(),
          client.isEmpty()
              ? "there are several Fenceline beans %s, and none is primary".formatted(names)
              : "several of the Fenceline beans %s are called '%s'".formatted(names, client),
          "Say which one, such as client = \"%s\"".formatted(names.get(0)),
          e);
    } catch (NoSuchBeanDefinitionException e) {
      throw InvalidMethods.found(
          operation.described(),
          client.isEmpty()
              ? "there is no Fenceline bean"
              : "there is no Fenceline bean '%s'".formatted(client),
          names.isEmpty() ? "Declare one" : "Name one of %s, or a qualifier of it".formatted(names),
          e);
    }
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
