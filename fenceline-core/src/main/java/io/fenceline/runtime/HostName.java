package io.fenceline.runtime;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What this machine calls itself.
 *
 * <p>Java only tells it together with its address: it asks the name service, which may take seconds
 * or not know it, and looks into every jar of the class path for another name service first. Linux
 * has the same name in a file.
 */
final class HostName {
  private static final Path KERNEL = Path.of("/proc/sys/kernel/hostname");

  private HostName() {}

  static String get() {
    return of(KERNEL);
  }

  /** The name in a file, or where there is none, the one that Java finds. */
  static String of(Path file) {
    try {
      String name = Files.readString(file).strip();
      if (!name.isEmpty()) {
        return name;
      }
    } catch (IOException | SecurityException e) {
      // Not Linux.
    }
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "unknown-host";
    }
  }
}
