package io.fenceline.spring;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.settings.InvalidSettingException;
import kotlin.Metadata;
import kotlin.coroutines.Continuation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Kotlin's suspending functions, as its compiler leaves them in a class file. */
@Timeout(300)
class LockedSuspendingTest {

  @Metadata
  static class Suspending {
    @Locked("suspended")
    public Object method(Continuation<? super String> continuation) {
      return "";
    }
  }

  /** ShedLock#3479: locking a suspending function was declined, so its lock ends too early. */
  @Test
  void suspendingFunction_failsTheStart() {
    assertThatThrownBy(() -> Application.start(Suspending.class).close())
        .rootCause()
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("suspending functions are not supported")
        .hasMessageContaining("Suspending.method(Continuation)");
  }
}
