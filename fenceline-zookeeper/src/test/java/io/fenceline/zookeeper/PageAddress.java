package io.fenceline.zookeeper;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The addresses that docs/zookeeper.md shows. */
final class PageAddress {
  private PageAddress() {}

  static String startingWith(String start) throws IOException {
    return Files.readAllLines(Path.of("../docs/zookeeper.md")).stream()
        .filter(line -> line.startsWith(start))
        .findFirst()
        .orElseThrow(() -> new AssertionError("docs/zookeeper.md has no " + start));
  }
}
