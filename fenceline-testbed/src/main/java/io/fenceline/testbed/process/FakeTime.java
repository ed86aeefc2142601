package io.fenceline.testbed.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A wall clock of a process that can be set at run time; its monotonic clock stays true. */
final class FakeTime {

  private final Path offsetFile;

  FakeTime(Path folder) {
    this.offsetFile = folder.resolve("clock-offset");
    offset(Duration.ZERO);
  }

  /** The command, run under libfaketime. */
  List<String> wrap(List<String> command) {
    // Through env, so that setpriv before it is not preloaded. With libc preloaded, too, its malloc
    // comes before jemalloc's, which would ask for the time before libfaketime is ready, and hang.
    List<String> wrapped = new ArrayList<>();
    wrapped.add("/usr/bin/env");
    wrapped.add("LD_PRELOAD=" + Debian.faketimeLibrary() + ":libc.so.6");
    wrapped.add("FAKETIME_TIMESTAMP_FILE=" + offsetFile);
    wrapped.add("FAKETIME_NO_CACHE=1");
    wrapped.add("FAKETIME_DONT_FAKE_MONOTONIC=1");
    wrapped.addAll(command);
    return wrapped;
  }

  /** Sets how far the clock is ahead of the machine's; negative is behind. */
  void offset(Duration ahead) {
    BigDecimal seconds =
        BigDecimal.valueOf(ahead.getSeconds()).add(BigDecimal.valueOf(ahead.getNano(), 9));
    try {
      // By rename, because the process reads the file at any moment.
      Path next = offsetFile.resolveSibling("clock-offset.next");
      Files.writeString(next, (seconds.signum() < 0 ? "" : "+") + seconds.toPlainString() + "\n");
      Files.move(next, offsetFile, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
