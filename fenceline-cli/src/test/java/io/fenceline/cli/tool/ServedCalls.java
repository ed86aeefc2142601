package io.fenceline.cli.tool;

import io.fenceline.cli.Main;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The tool's calls one after another in one JVM, for tests that need no process of their own for
 * each: most of what a call costs is the start of a JVM.
 *
 * <p>Reads paths from stdin: of files with arguments, each of which ends with a zero byte. What a
 * call prints is left beside its file; its exit code is printed here.
 */
public final class ServedCalls {
  private ServedCalls() {}

  public static void main(String[] none) throws Exception {
    PrintStream answers = System.out;
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String file = in.readLine(); file != null; file = in.readLine()) {
      String text = Files.readString(Path.of(file));
      String[] args = text.isEmpty() ? new String[0] : text.split("\0", -1);
      if (args.length > 0) {
        args = java.util.Arrays.copyOf(args, args.length - 1);
      }
      int code;
      try (PrintStream out = new PrintStream(file + ".out", StandardCharsets.UTF_8);
          PrintStream err = new PrintStream(file + ".err", StandardCharsets.UTF_8)) {
        System.setOut(out);
        System.setErr(err);
        code = Main.call(args);
      }
      answers.println(code);
      answers.flush();
    }
  }
}
