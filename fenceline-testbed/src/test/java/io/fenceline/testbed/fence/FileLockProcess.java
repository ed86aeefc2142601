package io.fenceline.testbed.fence;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A process that has the marks of a file locked until it is told to go on. Argument: the marks. */
final class FileLockProcess {
  private FileLockProcess() {}

  public static void main(String[] arguments) throws IOException {
    try (FileChannel marks = FileChannel.open(Path.of(arguments[0]), StandardOpenOption.WRITE);
        FileLock lock = marks.lock()) {
      System.out.println("locked " + lock.isValid());
      System.in.read();
    }
  }
}
