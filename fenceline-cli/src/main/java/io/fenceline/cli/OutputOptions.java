package io.fenceline.cli;

import io.fenceline.cli.text.Json;
import io.fenceline.cli.text.Table;
import java.util.List;
import picocli.CommandLine.Option;

/** Whether people or programs read what is printed. */
final class OutputOptions {
  @Option(
      names = "--json",
      description = "Print JSON, as described by docs/cli.schema.json; it only ever gains fields.")
  private boolean json;

  boolean isJson() {
    return json;
  }

  static void print(Object json) {
    System.out.println(Json.pretty(json));
  }

  static void print(Table table) {
    print(table.lines());
  }

  static void print(List<String> lines) {
    lines.forEach(System.out::println);
  }
}
