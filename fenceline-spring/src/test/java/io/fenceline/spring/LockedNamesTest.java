package io.fenceline.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.FencingToken;
import io.fenceline.Hold;
import io.fenceline.PermitHold;
import io.fenceline.settings.InvalidSettingException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What can't be locked is found when the application starts; what only a call can show fails that
 * call. Never is there one lock for all.
 */
@Timeout(300)
class LockedNamesTest {

  record Id(String value) {
    @Override
    public String toString() {
      return value;
    }
  }

  static class Opaque {}

  static class Named {
    @Locked("order:#{#value}")
    public String any(Object value, Hold hold) {
      return hold.name();
    }

    @Locked("order:#{#value.missing()}")
    public void failing(String value) {}
  }

  @Test
  void valuesOfManyTypes_makeNames() {
    try (Application application = Application.start(Named.class)) {
      Named named = application.bean(Named.class);
      UUID id = UUID.fromString("00000000-0000-0000-0000-000000000001");
      assertThat(named.any(7, null)).isEqualTo("order:7");
      assertThat(named.any(id, null)).isEqualTo("order:" + id);
      assertThat(named.any(new Id("x"), null)).isEqualTo("order:x");
      assertThat(named.any(Optional.of("y"), null)).isEqualTo("order:y");
      assertThat(named.any("#{1+1}", null))
          .as("values are not expressions")
          .isEqualTo("order:#{1+1}");
    }
  }

  static Stream<Arguments> unusable() {
    return Stream.of(
        Arguments.of(null, "gives null"),
        Arguments.of(Optional.empty(), "gives null"),
        Arguments.of("", "blank text"),
        Arguments.of("  ", "blank text"),
        Arguments.of(new Opaque(), "no toString of its own"),
        Arguments.of(new int[] {1}, "several values"),
        Arguments.of(List.of(1, 2), "several values"),
        Arguments.of("x".repeat(300), "too long"),
        Arguments.of("a\nb", "control character"));
  }

  /** lock4j joins a null key as "null": one lock for all. */
  @ParameterizedTest
  @MethodSource("unusable")
  void unusableValue_failsTheCall_namingMethodAndExpression(Object value, String problem) {
    try (Application application = Application.start(Named.class)) {
      assertThatThrownBy(() -> application.bean(Named.class).any(value, null))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("Named.any(Object, Hold)")
          .hasMessageContaining("#value")
          .hasMessageContaining(problem)
          .hasMessageContaining("The method was not called");
    }
  }

  @Test
  void expressionThatFails_failsTheCall() {
    try (Application application = Application.start(Named.class)) {
      assertThatThrownBy(() -> application.bean(Named.class).failing("x"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("#value.missing()");
    }
  }

  static class NoName {
    @Locked
    public void method() {}
  }

  static class NoBraces {
    @Locked("order:#id")
    public void method(long id) {}
  }

  static class Unparsable {
    @Locked("order:#{#id")
    public void method(long id) {}
  }

  static class UnknownParameter {
    @Locked("order:#{#orderId}")
    public void method(long id) {}
  }

  static class UnknownPlace {
    @Locked("order:#{#p1}")
    public void method(long id) {}
  }

  static class UnknownBean {
    @Locked("order:#{@nobody.id()}")
    public void method() {}
  }

  static class UnknownPlaceholder {
    @Locked("order:${nobody}")
    public void method() {}
  }

  static class TooLong {
    @Locked(
        "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"
            + "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234"
            + "0123456789012345678901234567890123456789")
    public void method() {}
  }

  static class BadDuration {
    @Locked(name = "x", maxWait = "5 seconds")
    public void method() {}
  }

  static class TwoLeases {
    @Locked(name = "x", lease = "5s", fixedLease = "5s")
    public void method() {}
  }

  static class SkippedInt {
    @Locked(name = "x", onRefusal = Locked.OnRefusal.SKIP)
    public int method() {
      return 1;
    }
  }

  static class SkippedString {
    @Locked(name = "x", onRefusal = Locked.OnRefusal.SKIP)
    public String method() {
      return "";
    }
  }

  static class SkippedWithFallback {
    @Locked(name = "x", onRefusal = Locked.OnRefusal.SKIP, fallback = "other")
    public void method() {}

    public void other() {}
  }

  static class NoFallback {
    @Locked(name = "x", fallback = "other")
    public String method(int a) {
      return "";
    }

    public String other(long a) {
      return "";
    }
  }

  static class WrongFallbackType {
    @Locked(name = "x", fallback = "other")
    public String method() {
      return "";
    }

    public int other() {
      return 1;
    }
  }

  static class PlainFuture {
    @Locked("x")
    public Future<String> method() {
      return null;
    }
  }

  static class LazyStream {
    @Locked("x")
    public Stream<String> method() {
      return null;
    }
  }

  static class NoPermits {
    @Locked(name = "x", mode = Locked.Mode.PERMIT)
    public void method() {}
  }

  static class PermitsOfALock {
    @Locked(name = "x", permits = 3)
    public void method() {}
  }

  static class TokenOfPermits {
    @Locked(name = "x", mode = Locked.Mode.PERMIT, permits = 3)
    public void method(FencingToken token) {}
  }

  static class PermitsOfAHold {
    @Locked("x")
    public void method(PermitHold held) {}
  }

  static class PrivateMethod {
    @Locked("x")
    public void seen() {}

    @Locked("x")
    private void method() {}
  }

  static class FinalMethod {
    @Locked("x")
    public void seen() {}

    @Locked("x")
    public final void method() {}
  }

  static Stream<Arguments> broken() {
    return Stream.of(
        Arguments.of(NoName.class, "it has no name"),
        Arguments.of(NoBraces.class, "Write #{#id}"),
        Arguments.of(Unparsable.class, "does not parse"),
        Arguments.of(UnknownParameter.class, "names the parameter 'orderId'"),
        Arguments.of(UnknownPlace.class, "names the parameter 'p1'"),
        Arguments.of(UnknownBean.class, "there is no bean 'nobody'"),
        Arguments.of(UnknownPlaceholder.class, "placeholder"),
        Arguments.of(TooLong.class, "too long"),
        Arguments.of(BadDuration.class, "maxWait = '5 seconds' is not a duration"),
        Arguments.of(TwoLeases.class, "a lease and a fixed lease"),
        Arguments.of(SkippedInt.class, "has no int to return"),
        Arguments.of(SkippedString.class, "has no String to return"),
        Arguments.of(SkippedWithFallback.class, "it skips and has a fallback"),
        Arguments.of(NoFallback.class, "has no fallback 'other' that fits"),
        Arguments.of(WrongFallbackType.class, "has no fallback 'other' that fits"),
        Arguments.of(PlainFuture.class, "a Future is not done when the method returns"),
        Arguments.of(LazyStream.class, "a Stream is not done when the method returns"),
        Arguments.of(NoPermits.class, "permits = 0 does not go with mode = PERMIT"),
        Arguments.of(PermitsOfALock.class, "permits = 3 does not go with mode = EXCLUSIVE"),
        Arguments.of(TokenOfPermits.class, "a parameter is a FencingToken"),
        Arguments.of(PermitsOfAHold.class, "a parameter is a PermitHold"),
        Arguments.of(PrivateMethod.class, "private"),
        Arguments.of(FinalMethod.class, "final"));
  }

  /**
   * Among them ShedLock#353 (a skipped call returned null, and a primitive threw) and ShedLock#1753
   * (bean references that no longer worked).
   */
  @ParameterizedTest
  @MethodSource("broken")
  void brokenDeclaration_failsTheStart_namingTheMethod(Class<?> bean, String problem) {
    assertThatThrownBy(() -> Application.start(bean))
        .satisfies(
            e -> {
              InvalidSettingException found = find(e);
              assertThat(found.getMessage()).contains(problem).contains("method(");
              assertThat(found.remedy()).isNotBlank();
            });
  }

  private static InvalidSettingException find(Throwable e) {
    Throwable cause = e;
    while (cause != null && !(cause instanceof InvalidSettingException)) {
      cause = cause.getCause();
    }
    return (InvalidSettingException) cause;
  }
}
