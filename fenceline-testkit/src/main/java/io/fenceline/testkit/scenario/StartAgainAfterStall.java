package io.fenceline.testkit.scenario;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.platform.commons.support.ReflectionSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a test on real time again if it failed while this JVM stood still for a good part of a
 * lease, and says so in the log.
 *
 * <p>On real time a test has to be somewhere before a lease is over. A JVM that does not run misses
 * that, and the failure shows nothing of the store. Only a stall that was measured counts: a wait
 * in vain does not, nor does a slow answer. A test that fails again without a stall has failed.
 */
final class StartAgainAfterStall implements InvocationInterceptor {

  private static final Logger LOG = LoggerFactory.getLogger("io.fenceline.testkit");
  private static final int ATTEMPTS = 4;

  /** For {@code @ExtendWith}. */
  StartAgainAfterStall() {}

  @Override
  public void interceptTestMethod(
      Invocation<Void> invocation,
      ReflectiveInvocationContext<Method> method,
      ExtensionContext context)
      throws Throwable {
    run(invocation, method, context);
  }

  @Override
  public void interceptTestTemplateMethod(
      Invocation<Void> invocation,
      ReflectiveInvocationContext<Method> method,
      ExtensionContext context)
      throws Throwable {
    run(invocation, method, context);
  }

  private static void run(
      Invocation<Void> invocation,
      ReflectiveInvocationContext<Method> method,
      ExtensionContext context)
      throws Throwable {
    Scenario scenario = (Scenario) context.getRequiredTestInstance();
    List<Object> arguments = method.getArguments();
    for (int attempt = 1; ; attempt++) {
      try {
        if (attempt == 1) {
          invocation.proceed();
        } else {
          ReflectionSupport.invokeMethod(method.getExecutable(), scenario, arguments.toArray());
        }
        return;
      } catch (Throwable failure) {
        Duration stall = scenario.harmfulStall();
        boolean excused = !stall.isZero() || failure instanceof Scenario.LeaseRanOut;
        if (!excused || attempt == ATTEMPTS) {
          throw failure;
        }
        LOG.warn(
            "{} starts again: this JVM stood still for {}ms (attempt={}, lease={}ms)",
            context.getUniqueId(),
            stall.toMillis(),
            attempt,
            scenario.lease.toMillis(),
            failure);
        scenario.close();
        scenario.open();
      }
    }
  }
}
