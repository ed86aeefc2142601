package io.fenceline.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * The contract notices what a store does wrong: every breakage fails the tests that are named.
 *
 * <p>Beside these, a tenth of the contract is run on each broken store, and all of it on the one
 * that is whole; {@code -Dfenceline.contract.all=true}, as {@code ./check --long} has it, runs all
 * of it on each.
 */
class BrokenStoresTest {
  private static final boolean ALL = Boolean.getBoolean("fenceline.contract.all");
  private static final int PART = 10;

  private static final class Results implements TestExecutionListener {
    final Set<String> passed = new ConcurrentSkipListSet<>();
    final Set<String> failed = new ConcurrentSkipListSet<>();

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
      test.getSource()
          .filter(source -> test.isTest() && source instanceof MethodSource)
          .map(source -> ((MethodSource) source).getMethodName())
          .ifPresent(
              name -> {
                boolean success = result.getStatus() == TestExecutionResult.Status.SUCCESSFUL;
                (success ? passed : failed).add(name);
              });
    }
  }

  private static boolean runsWhole(Breakage breakage) {
    return ALL || breakage.noticedBy.isEmpty();
  }

  private static FilterResult choose(TestDescriptor test, Breakage breakage) {
    return FilterResult.includedIf(
        !(test.getSource().orElse(null) instanceof MethodSource method)
            || breakage.noticedBy.contains(method.getMethodName())
            || method.getMethodName().hashCode() % PART == 0);
  }

  private static Results runContractOn(Breakage breakage) {
    BrokenContract.current = breakage;
    PostDiscoveryFilter part =
        test -> runsWhole(breakage) ? FilterResult.included("all of them") : choose(test, breakage);
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(selectClass(BrokenContract.class))
            .filters(part)
            // Where something is broken, most of the time is spent waiting in vain.
            .configurationParameter("junit.jupiter.execution.parallel.enabled", "true")
            .configurationParameter("junit.jupiter.execution.parallel.config.strategy", "fixed")
            .configurationParameter(
                "junit.jupiter.execution.parallel.config.fixed.parallelism", "24")
            .build();
    Results results = new Results();
    LauncherFactory.create().execute(request, results);
    return results;
  }

  @ParameterizedTest
  @EnumSource
  void contract_noticesWhatIsBroken(Breakage breakage) {
    Results results = runContractOn(breakage);

    assertThat(results.passed.size() + results.failed.size())
        .isGreaterThan(runsWhole(breakage) ? 200 : 20);
    assertThat(results.failed).containsAll(breakage.noticedBy);
    // What has nothing to do with the breakage goes on: the suite tells them apart.
    Set<String> others = new TreeSet<>(results.failed);
    breakage.noticedBy.forEach(others::remove);
    assertThat(others.size())
        .as("failed: %s", results.failed)
        .isLessThan(breakage.noticedBy.isEmpty() ? 1 : results.passed.size());
  }
}
