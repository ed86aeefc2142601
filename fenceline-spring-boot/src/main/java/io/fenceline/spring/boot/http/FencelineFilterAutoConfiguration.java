package io.fenceline.spring.boot.http;

import io.fenceline.fence.Fence;
import io.fenceline.http.FencingTokenFilter;
import io.fenceline.http.Resources;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spring.boot.FencelineAutoConfiguration;
import io.fenceline.spring.boot.FencelineProperties;
import jakarta.servlet.Filter;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingFilterBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;

/**
 * Auto-configuration of the filter that reads fencing tokens, behind {@code
 * fenceline.http.filter.enabled}.
 */
@AutoConfiguration(after = FencelineAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({FencingTokenFilter.class, Filter.class})
@ConditionalOnProperty("fenceline.http.filter.enabled")
public final class FencelineFilterAutoConfiguration {

  /** Called by Spring. */
  public FencelineFilterAutoConfiguration() {}

  /** Last of the filters, so that authentication comes before it. */
  @Bean
  @ConditionalOnMissingFilterBean(FencingTokenFilter.class)
  FilterRegistrationBean<FencingTokenFilter> fencingTokenFilter(
      FencelineProperties properties,
      ObjectProvider<Fence> fences,
      ObjectProvider<Resources> resources) {
    FencelineProperties.Filter settings = properties.http().filter();
    FencingTokenFilter filter = filter(settings, fences, resources);
    FilterRegistrationBean<FencingTokenFilter> registration =
        new FilterRegistrationBean<>(settings.optional() ? filter.optional() : filter);
    registration.setUrlPatterns(settings.urlPatterns());
    registration.setOrder(Ordered.LOWEST_PRECEDENCE);
    return registration;
  }

  private static FencingTokenFilter filter(
      FencelineProperties.Filter settings,
      ObjectProvider<Fence> fences,
      ObjectProvider<Resources> resources) {
    Resources known = resources.getIfUnique();
    if (known == null && !settings.routes().isEmpty()) {
      known = Resources.at(settings.routes().toArray(String[]::new));
    }
    if (known == null) {
      return FencingTokenFilter.parsing();
    }
    Fence fence = fences.getIfUnique();
    if (fence == null) {
      throw new InvalidSettingException(
          "fenceline.http.filter.routes",
          settings.routes(),
          "tokens can't be checked without a Fence; declare one such bean, shared by all replicas");
    }
    return FencingTokenFilter.checking(fence, known);
  }
}
