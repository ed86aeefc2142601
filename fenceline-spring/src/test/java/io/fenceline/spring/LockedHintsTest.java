package io.fenceline.spring;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.TypeHint;
import org.springframework.aot.hint.annotation.ReflectiveRuntimeHintsRegistrar;

/** What a native image keeps of beans that have locked methods, also behind interfaces. */
class LockedHintsTest {

  static class Orders {
    @Locked(name = "order:#{#id}", fallback = "later")
    public String pay(long id) {
      return "paid";
    }

    private String later(long id) {
      return "later";
    }

    public void other() {}
  }

  @Locked("stock")
  static class Stock {
    public void count() {}
  }

  private static boolean keeps(Class<?> type, String method) {
    RuntimeHints hints = new RuntimeHints();
    new ReflectiveRuntimeHintsRegistrar().registerRuntimeHints(hints, type);
    TypeHint kept = hints.reflection().getTypeHint(type);
    return kept != null
        && kept.methods()
            .anyMatch(
                hint -> hint.getName().equals(method) && hint.getMode() == ExecutableMode.INVOKE);
  }

  @Test
  void lockedMethod_andItsFallback_areKept() {
    assertThat(keeps(Orders.class, "pay")).isTrue();
    assertThat(keeps(Orders.class, "later")).isTrue();
    assertThat(keeps(Orders.class, "other")).isFalse();
  }

  @Test
  void methodsOfALockedType_areKept() {
    assertThat(keeps(Stock.class, "count")).isTrue();
  }
}
