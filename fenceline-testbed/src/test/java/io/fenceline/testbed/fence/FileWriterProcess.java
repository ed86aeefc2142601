package io.fenceline.testbed.fence;

import io.fenceline.FencingToken;
import io.fenceline.StaleTokenException;
import io.fenceline.fence.FencedFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** A process that replaces a file, and can be stopped half-way. Arguments: path, token. */
final class FileWriterProcess {
  private FileWriterProcess() {}

  public static void main(String[] arguments) {
    FencingToken token = FencingToken.exclusive(Long.parseLong(arguments[1]));
    try {
      FencedFile.at(Path.of(arguments[0]))
          .replace(
              out -> {
                out.write("first half".getBytes(StandardCharsets.UTF_8));
                System.out.println("half written");
                System.in.read();
                out.write("second half".getBytes(StandardCharsets.UTF_8));
              },
              token);
      System.out.println("verdict accepted");
    } catch (StaleTokenException e) {
      System.out.println("verdict refused by " + e.accepted());
    }
  }
}
