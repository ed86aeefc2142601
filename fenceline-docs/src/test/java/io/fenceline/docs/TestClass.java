package io.fenceline.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;
import org.springframework.test.context.cache.DefaultCacheAwareContextLoaderDelegate;

/** A class of tests on a page, as a user would have it in a file of its own. */
record TestClass(Path folder, String name, String source) {
  private static final Pattern NAME = Pattern.compile("(?m)^class (\\w+)");

  static TestClass of(Path folder, String source) {
    Matcher name = NAME.matcher(source);
    assertThat(name.find()).as("a class in:\n%s", source).isTrue();
    return new TestClass(folder, name.group(1), source);
  }

  /** What the compiler has to say against it. */
  List<String> compile() throws IOException {
    return JavaCode.compile(folder, Files.writeString(folder.resolve(name + ".java"), source));
  }

  /** Runs its tests, all of which must pass. */
  void run() throws Exception {
    URL[] here = {folder.toUri().toURL()};
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (URLClassLoader loader = new URLClassLoader(here, TestClass.class.getClassLoader())) {
      thread.setContextClassLoader(loader); // Spring reads the file of a test class from there.
      SummaryGeneratingListener listener = new SummaryGeneratingListener();
      LauncherFactory.create()
          .execute(
              LauncherDiscoveryRequestBuilder.request()
                  .selectors(selectClass(loader.loadClass(name)))
                  .build(),
              listener);
      TestExecutionSummary summary = listener.getSummary();
      assertThat(summary.getFailures())
          .extracting(
              failure -> failure.getTestIdentifier().getDisplayName(),
              failure -> failure.getException())
          .isEmpty();
      assertThat(summary.getTestsSucceededCount()).isPositive();
    } finally {
      thread.setContextClassLoader(before);
      SpringContexts.forget();
    }
  }

  /** Spring keeps contexts by name of the test class, and the next page's has the same one. */
  private static final class SpringContexts extends DefaultCacheAwareContextLoaderDelegate {
    static void forget() {
      new SpringContexts().getContextCache().clear();
    }
  }
}
