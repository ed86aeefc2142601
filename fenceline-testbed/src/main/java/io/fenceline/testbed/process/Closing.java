package io.fenceline.testbed.process;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Closes several things, all of them, whatever one of them throws. */
public final class Closing {

  private Closing() {}

  static void all(Collection<? extends Runnable> steps) {
    Throwable first = null;
    for (Runnable step : steps) {
      try {
        step.run();
      } catch (RuntimeException | Error e) {
        first = join(first, e);
      }
    }
    if (first instanceof Error error) {
      throw error;
    }
    if (first instanceof RuntimeException exception) {
      throw exception;
    }
  }

  public static void servers(Collection<? extends ServerProcess> servers) {
    List<Runnable> steps = new ArrayList<>();
    servers.forEach(server -> steps.add(server::close));
    all(steps);
  }

  private static Throwable join(@Nullable Throwable first, Throwable next) {
    if (first == null) {
      return next;
    }
    first.addSuppressed(next);
    return first;
  }
}
