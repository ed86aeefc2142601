package io.fenceline.cli.options;

import io.fenceline.cli.text.Json;
import io.fenceline.cli.text.Table;
import java.util.List;
import picocli.CommandLine.Option;

/** Whether people or programs read what is printed. */
public final class OutputOptions {
  @Option(
      names = "--json",
      description = "Print JSON, as described by docs/cli.schema.json; it only ever gains fields.")
  private boolean json;

  public boolean isJson() {
    return json;
  }

  public static void print(Object json) {
    System.out.println(Json.pretty(json));
  }

  public static void print(Table table) {
    print(table.lines());
  }

  public static void print(List<String> lines) {
    lines.forEach(System.out::println);
  }
}
