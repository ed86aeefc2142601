package io.fenceline.testbed.proxy;

import io.fenceline.testkit.Eventually;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;

/** A program that speaks a protocol for us, as its users would run it. */
record Command(int status, String output) {

  static Command run(Map<String, String> environment, String... words) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(words).redirectErrorStream(true);
    builder.environment().putAll(environment);
    Process process = builder.start();
    process.getOutputStream().close();
    try {
      // Its output fits into the pipe.
      Eventually.until(Duration.ofSeconds(20), words[0] + " to end", () -> !process.isAlive());
      byte[] output = process.getInputStream().readAllBytes();
      return new Command(process.exitValue(), new String(output, StandardCharsets.UTF_8).strip());
    } finally {
      process.destroyForcibly();
    }
  }
}
