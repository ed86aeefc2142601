package io.fenceline.spring.boot;

import io.fenceline.Fenceline;
import io.fenceline.FencelineBuilder;
import io.fenceline.LockOptions;
import io.fenceline.diagnosis.Guarantee;
import io.fenceline.settings.HandOff;
import io.fenceline.spring.LockSettings;
import io.fenceline.spring.LockedConfiguration;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Scope;
import org.springframework.core.env.Environment;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Auto-configuration of a {@link Fenceline} client, and of locked methods.
 *
 * <p>An application with several clients declares each of them with the {@link FencelineBuilder}
 * bean, which has all settings but the store:
 *
 * <pre>{@code
 * @Bean
 * Fenceline billing(FencelineBuilder builder) {
 *   return builder.store("redis://billing").connect();
 * }
 * }</pre>
 */
@AutoConfiguration
@ConditionalOnClass(Fenceline.class)
@EnableConfigurationProperties(FencelineProperties.class)
public final class FencelineAutoConfiguration {
  private static final int LONGEST_LABEL = 100;

  /** Called by Spring. */
  public FencelineAutoConfiguration() {}

  @Bean
  @Scope(ConfigurableBeanFactory.SCOPE_PROTOTYPE)
  @ConditionalOnMissingBean
  FencelineBuilder fencelineBuilder(
      FencelineProperties properties,
      Environment environment,
      ObjectProvider<FencelineBuilderCustomizer> customizers) {
    FencelineBuilder builder =
        Fenceline.builder()
            .label(label(properties, environment))
            .defaultOptions(LockOptions.defaults().lease(properties.lease()))
            .connectTimeout(properties.connectTimeout())
            .operationTimeout(properties.operationTimeout())
            .require(properties.require().toArray(Guarantee[]::new))
            .handOff(new HandOff(properties.handOff().times(), properties.handOff().within()))
            .tokenBase(properties.tokenBase());
    customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
    return builder;
  }

  /** Closed before whatever its store is connected through, since it depends on that. */
  @Bean(destroyMethod = "close")
  @ConditionalOnMissingBean
  @DependsOnDatabaseInitialization
  @SuppressWarnings("MustBeClosedChecker") // By Spring.
  Fenceline fenceline(
      FencelineProperties properties,
      FencelineBuilder fencelineBuilder,
      @Autowired(required = false) @Nullable List<StoreSource> sources) {
    // As a list, so that Spring knows what this depends on, and closes it later.
    new StoreChoice(properties.store(), sources == null ? List.of() : sources)
        .applyTo(fencelineBuilder);
    return fencelineBuilder.connect();
  }

  private static String label(FencelineProperties properties, Environment environment) {
    if (properties.label() != null && !properties.label().isBlank()) {
      return properties.label();
    }
    String application = environment.getProperty("spring.application.name", "application");
    String label = "%s@%s:%d".formatted(application, host(), ProcessHandle.current().pid());
    return label.length() <= LONGEST_LABEL ? label : label.substring(0, LONGEST_LABEL);
  }

  private static String host() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "unknown";
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnProperty(name = "fenceline.locked.enabled", matchIfMissing = true)
  @Import({LockedConfiguration.class, ProxyRegistrar.class})
  static class LockedMethods {

    @Bean
    @ConditionalOnMissingBean
    LockSettings fencelineLockSettings(FencelineProperties properties) {
      return new GroupSettings(properties.groups(), properties.locked().maxWait());
    }
  }

  /** Makes proxies of the kind that the application has elsewhere. */
  static final class ProxyRegistrar implements ImportBeanDefinitionRegistrar, EnvironmentAware {
    private Environment environment = new StandardEnvironment();

    @Override
    public void setEnvironment(Environment environment) {
      this.environment = environment;
    }

    @Override
    public void registerBeanDefinitions(
        AnnotationMetadata importing, BeanDefinitionRegistry registry) {
      LockedConfiguration.register(
          registry,
          environment.getProperty(
              "fenceline.locked.order", Integer.class, LockedConfiguration.ORDER),
          environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true));
    }
  }
}
