package io.fenceline.fence;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.FencingToken;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One file, and a fence that was loaded twice into this process, as application servers do. */
class FencedFileLoadersTest {
  private static final long BOUND_SECONDS = 60;

  @TempDir Path folder;

  /** Has our classes once more. */
  private static final class Another extends ClassLoader {
    Another() {
      super(Another.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith("io.fenceline.")) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        return loaded != null ? loaded : define(name);
      }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
      Class<?> original = Class.forName(name, false, getParent());
      String file = name.substring(name.lastIndexOf('.') + 1) + ".class";
      try (InputStream in = original.getResourceAsStream(file)) {
        byte[] bytes = in.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Replaces a file by the fence of a class loader. */
  private static void replace(ClassLoader loader, Path file, long token) throws Exception {
    Class<?> fence = loader.loadClass(FencedFile.class.getName());
    Class<?> tokens = loader.loadClass(FencingToken.class.getName());
    assertThat(fence).isNotEqualTo(FencedFile.class);
    Object fenced = fence.getMethod("at", Path.class).invoke(null, file);
    Object exclusive = tokens.getMethod("exclusive", long.class).invoke(null, token);
    byte[] content = ("of " + token).getBytes(StandardCharsets.UTF_8);
    try {
      fence.getMethod("replace", byte[].class, tokens).invoke(fenced, content, exclusive);
    } catch (InvocationTargetException e) {
      throw new AssertionError(e.getCause());
    }
  }

  @Test
  void fenceOfAnotherClassLoader_waitsForTheLock() throws Exception {
    Path file = folder.toRealPath().resolve("prices.json");
    FencedFile.at(file).replace("of 1".getBytes(StandardCharsets.UTF_8), FencingToken.exclusive(1));
    Path marks = file.resolveSibling(".prices.json.fence").resolve("marks");
    AtomicReference<Thread> second = new AtomicReference<>();
    ExecutorService threads = Executors.newSingleThreadExecutor();
    try {
      Future<Void> replaced;
      synchronized (FileMarks.ofThisProcess(marks)) {
        try (FileMarks held = FileMarks.lock(marks)) {
          assertThat(held.read().any()).isEqualTo(1);
          Callable<Void> task =
              () -> {
                second.set(Thread.currentThread());
                replace(new Another(), file, 2);
                return null;
              };
          replaced = threads.submit(task);
          long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(BOUND_SECONDS);
          while (!replaced.isDone() && !isBlocked(second.get()) && System.nanoTime() < end) {
            Thread.onSpinWait();
          }
          assertThat(Files.readString(file)).isEqualTo("of 1");
        }
      }
      replaced.get(BOUND_SECONDS, TimeUnit.SECONDS);
      assertThat(Files.readString(file)).isEqualTo("of 2");
    } finally {
      threads.shutdownNow();
    }
  }

  private static boolean isBlocked(Thread thread) {
    return thread != null && thread.getState() == Thread.State.BLOCKED;
  }
}
