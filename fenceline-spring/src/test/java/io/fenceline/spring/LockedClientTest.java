package io.fenceline.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.settings.InvalidSettingException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

/** Whose lock it is, where an application has several clients. */
@Timeout(300)
class LockedClientTest {

  static class Unnamed {
    @Locked("x")
    public String method() {
      return LockedContext.currentHold().name();
    }
  }

  static class ByBean {
    @Locked(name = "x", client = "second")
    public boolean method(Fenceline second) {
      return second.inspect("x").isFree();
    }
  }

  static class ByQualifier {
    @Locked(name = "x", client = "billing")
    public boolean method(Fenceline second) {
      return second.inspect("x").isFree();
    }
  }

  static class Nobody {
    @Locked(name = "x", client = "nobody")
    public void method() {}
  }

  /** Beside the client that every application of these tests has. */
  @Configuration(proxyBeanMethods = false)
  static class Second {
    @Bean
    @Qualifier("billing")
    Fenceline second() {
      return Fenceline.connect("memory:");
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class PrimarySecond {
    @Bean
    @Primary
    Fenceline second() {
      return Fenceline.connect("memory:");
    }
  }

  @Test
  void client_isNamedByItsBeanOrItsQualifier() {
    try (Application application =
        Application.start(ByBean.class, ByQualifier.class, Second.class)) {
      Fenceline second = application.bean("second", Fenceline.class);
      assertThat(application.bean(ByBean.class).method(second)).isFalse();
      assertThat(application.bean(ByQualifier.class).method(second)).isFalse();
    }
  }

  @Test
  void clientThatIsNotThere_failsTheStart() {
    assertThatThrownBy(() -> Application.start(Nobody.class, Second.class).close())
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("Nobody.method()")
        .hasMessageContaining("there is no Fenceline bean 'nobody'")
        .hasMessageContaining("[fenceline, second]");
  }

  @Test
  void severalClients_ofWhichNoneIsNamed_failTheStart() {
    assertThatThrownBy(() -> Application.start(Unnamed.class, Second.class).close())
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("Unnamed.method()")
        .hasMessageContaining("several Fenceline beans [fenceline, second]")
        .hasMessageContaining("client = \"fenceline\"");
    try (Application application = Application.start(Unnamed.class, PrimarySecond.class)) {
      assertThat(application.bean(Unnamed.class).method()).isEqualTo("x");
    }
  }
}
