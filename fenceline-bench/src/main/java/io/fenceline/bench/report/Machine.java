package io.fenceline.bench.report;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/**
 * What it ran on.
 *
 * @param hardware cores, processor and memory
 * @param system operating system and Java
 * @param loadBefore how busy the machine was before the run, and before what was run was built:
 *     below 1 it had nothing else to do
 */
public record Machine(String hardware, String system, double loadBefore) {

  /** This one, now. */
  public static Machine now() {
    OperatingSystemMXBean os = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    String hardware =
        String.format(
            Locale.ROOT,
            "%d cores (%s), %.0f GB of memory",
            os.getAvailableProcessors(),
            processor(),
            os.getTotalMemorySize() / 1e9);
    String system =
        "%s %s, Java %s (%s)"
            .formatted(
                os.getName(),
                os.getVersion(),
                System.getProperty("java.version"),
                System.getProperty("java.vm.name"));
    String before = System.getProperty("fenceline.bench.load");
    double load = before == null ? os.getSystemLoadAverage() : Double.parseDouble(before);
    return new Machine(hardware, system, load);
  }

  private static String processor() {
    try {
      return Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse(System.getProperty("os.arch"));
    } catch (IOException e) {
      return System.getProperty("os.arch");
    }
  }

  /** Versions of the libraries in this run. */
  static Map<String, String> versions() {
    Properties properties = new Properties();
    try (InputStream in = Machine.class.getResourceAsStream("versions.properties")) {
      if (in == null) {
        throw new IllegalStateException("versions.properties is missing");
      }
      properties.load(new StringReader(new String(in.readAllBytes(), StandardCharsets.UTF_8)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Map<String, String> versions = new TreeMap<>();
    properties.forEach((key, value) -> versions.put(key.toString(), value.toString()));
    return versions;
  }
}
