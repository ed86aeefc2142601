package io.fenceline.cli.run;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.TimeUnit;

/** Passes on what a command prints, and shows it to somebody who keeps it. */
final class Tee {
  private static final int BUFFER_BYTES = 1 << 13;

  /** What a background process of the command prints after its end is not waited for. */
  private static final long REST_MILLIS = 500;

  private final Thread out;
  private final Thread err;

  Tee(Process process, Printed printed) {
    out = reader("stdout", process.getInputStream(), System.out, false, printed);
    err = reader("stderr", process.getErrorStream(), System.err, true, printed);
  }

  private static Thread reader(
      String name, InputStream from, OutputStream to, boolean isError, Printed printed) {
    Thread thread = new Thread(() -> copy(from, to, isError, printed), name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static void copy(InputStream from, OutputStream to, boolean isError, Printed printed) {
    byte[] buffer = new byte[BUFFER_BYTES];
    try {
      for (int read = from.read(buffer); read >= 0; read = from.read(buffer)) {
        printed.add(isError, buffer, read);
        to.write(buffer, 0, read); // A print stream hides it if nobody listens any more.
        to.flush();
      }
    } catch (IOException e) {
      // As good as the end.
    }
  }

  /** Waits until all is read that the command has printed. */
  void await() throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(REST_MILLIS);
    for (Thread reader : new Thread[] {out, err}) {
      reader.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
    }
  }
}
