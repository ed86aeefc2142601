package io.fenceline.spring;

import io.fenceline.Fenceline;
import java.util.function.Function;
import java.util.function.Supplier;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotationAttributes;
import org.springframework.core.type.AnnotationMetadata;

/** The beans behind {@link Locked}; imported by {@link EnableLocked}, and by the starters. */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public class LockedConfiguration {
  /** Outside of everything whose order is the default one, such as transactions. */
  public static final int ORDER = Ordered.LOWEST_PRECEDENCE - 1000;

  private static final String ORDER_BEAN = "io.fenceline.spring.lockedOrder";

  /** Called by Spring. */
  public LockedConfiguration() {}

  /**
   * Registers these beans, and what makes proxies.
   *
   * @param order see {@link EnableLocked#order}
   * @param proxyTargetClass see {@link EnableLocked#proxyTargetClass}
   */
  public static void register(
      BeanDefinitionRegistry registry, int order, boolean proxyTargetClass) {
    AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
    if (proxyTargetClass) {
      AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(registry);
    }
    if (!registry.containsBeanDefinition(ORDER_BEAN)) {
      registry.registerBeanDefinition(
          ORDER_BEAN,
          BeanDefinitionBuilder.rootBeanDefinition(LockedOrder.class)
              .addConstructorArgValue(order)
              .setRole(BeanDefinition.ROLE_INFRASTRUCTURE)
              .getBeanDefinition());
    }
  }

  /** See {@link EnableLocked#order}. */
  record LockedOrder(int value) {}

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static LockedOperations fencelineLockedOperations(ConfigurableListableBeanFactory beans) {
    return new LockedOperations(beans);
  }

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static LockedAdvisor fencelineLockedAdvisor(
      ConfigurableListableBeanFactory beans,
      LockedOperations operations,
      ObjectProvider<LockedOrder> order) {
    // Clients and settings are looked up when a method is called: they must not be made early.
    return new LockedAdvisor(
        operations,
        new LockedInterceptor(operations, clients(beans), settings(beans)),
        order.stream().mapToInt(LockedOrder::value).findFirst().orElse(ORDER));
  }

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static ChainCheck fencelineChainCheck(
      ConfigurableListableBeanFactory beans, LockedOperations operations) {
    return new ChainCheck(beans, operations, clients(beans));
  }

  @Bean
  LockTemplate lockTemplate(ConfigurableListableBeanFactory beans) {
    return new LockTemplate(() -> clients(beans).apply(""), settings(beans));
  }

  private static Supplier<LockSettings> settings(ConfigurableListableBeanFactory beans) {
    ObjectProvider<LockSettings> settings = beans.getBeanProvider(LockSettings.class);
    return () -> settings.getIfAvailable(() -> LockSettings.DEFAULTS);
  }

  private static Function<String, Fenceline> clients(ConfigurableListableBeanFactory beans) {
    return client ->
        client.isEmpty()
            ? beans.getBean(Fenceline.class)
            : BeanFactoryAnnotationUtils.qualifiedBeanOfType(beans, Fenceline.class, client);
  }

  /** Reads {@link EnableLocked}. */
  static final class Registrar implements ImportBeanDefinitionRegistrar {
    @Override
    public void registerBeanDefinitions(
        AnnotationMetadata importing, BeanDefinitionRegistry registry) {
      AnnotationAttributes enabled =
          AnnotationAttributes.fromMap(
              importing.getAnnotationAttributes(EnableLocked.class.getName()));
      if (enabled != null) {
        register(registry, enabled.getNumber("order"), enabled.getBoolean("proxyTargetClass"));
      }
    }
  }
}
