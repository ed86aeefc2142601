package io.fenceline.cli.run;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;

/**
 * Until when a command may run, as the watchdog reads it while this tool is stopped: in hundredths
 * of a second since the machine was started.
 */
final class Until implements AutoCloseable {

  /*
   * The file is kept open on both sides and written in place, so that it may be tidied away.
   *
   * A stop of this process between the two looks at the clock would make the time too late: they are
   * repeated if that took long. A stop after them leaves the earlier time in the file.
   */

  private static final Path UPTIME = Path.of("/proc/uptime");
  private static final int DIGITS = 15;
  private static final int LONGEST_LOOK_HUNDREDTHS = 5;
  private static final int LOOKS = 20;
  private static final int WORTH_TELLING_HUNDREDTHS = 10;

  private final FileChannel file;
  private long written;

  private Until(FileChannel file) {
    this.file = file;
  }

  static Until in(Path folder) throws IOException {
    return new Until(
        FileChannel.open(
            folder.resolve("until"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
  }

  /**
   * Moves the time to the end of a lease.
   *
   * @return whether it was moved
   */
  boolean move(CommandHold lease) throws IOException {
    for (int look = 0; look < LOOKS; look++) {
      long before = uptimeHundredths();
      Duration left = lease.remaining();
      if (left.isZero()) {
        return false; // What is over stays so.
      }
      if (uptimeHundredths() - before <= LONGEST_LOOK_HUNDREDTHS) {
        return write(before + left.toMillis() / 10);
      }
    }
    return false; // On such a machine the earlier time has to do.
  }

  private boolean write(long hundredths) throws IOException {
    if (Math.abs(hundredths - written) < WORTH_TELLING_HUNDREDTHS) {
      return false;
    }
    written = hundredths;
    // Not by a Formatter: it would look for the digits of all languages, at each start of the tool.
    String number = Long.toString(hundredths);
    String text = " ".repeat(Math.max(0, DIGITS - number.length())) + number + "\n";
    file.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)), 0);
    return true;
  }

  private static long uptimeHundredths() throws IOException {
    String text = Files.readString(UPTIME, StandardCharsets.US_ASCII);
    return Long.parseLong(text.substring(0, text.indexOf(' ')).replace(".", ""));
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
