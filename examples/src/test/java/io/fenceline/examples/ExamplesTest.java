package io.fenceline.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The examples run, and print what their readers are told. */
class ExamplesTest {

  private interface Example {
    void run(PrintStream out) throws Exception;
  }

  private static String printed(Example example) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8)) {
      example.run(out);
    }
    // Tokens differ each time; they are the only numbers of that length.
    return bytes.toString(StandardCharsets.UTF_8).replaceAll("\\d{8,}", "#");
  }

  private static String expected(String name) throws IOException {
    try (InputStream in = ExamplesTest.class.getResourceAsStream("/" + name + ".txt")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void walkthrough() throws Exception {
    assertThat(printed(Walkthrough::run)).isEqualTo(expected("Walkthrough"));
  }

  @Test
  void tenClients() throws Exception {
    assertThat(printed(TenClients::run)).isEqualTo(expected("TenClients"));
  }

  @Test
  void oversell() throws Exception {
    assertThat(printed(Oversell::run)).isEqualTo(expected("Oversell"));
  }

  @Test
  void doubleCharge() throws Exception {
    assertThat(printed(DoubleCharge::run)).isEqualTo(expected("DoubleCharge"));
  }

  @Test
  void pausedLeader() throws Exception {
    assertThat(printed(PausedLeader::run)).isEqualTo(expected("PausedLeader"));
  }

  @Test
  void paidOnce() throws Exception {
    assertThat(printed(PaidOnce::run)).isEqualTo(expected("PaidOnce"));
  }

  @Test
  void strictWindow() throws Exception {
    assertThat(printed(StrictWindow::run)).isEqualTo(expected("StrictWindow"));
  }

  @Test
  void staleCache() throws Exception {
    assertThat(printed(StaleCache::run)).isEqualTo(expected("StaleCache"));
  }

  @Test
  void index_showsWhatIsPrinted_andNamesEveryProgram() throws Exception {
    String index = Files.readString(Path.of("README.md"));

    assertThat(index).contains(expected("Oversell"));
    for (String name :
        new String[] {
          "Walkthrough",
          "TenClients",
          "Oversell",
          "DoubleCharge",
          "PausedLeader",
          "PaidOnce",
          "StrictWindow",
          "StaleCache"
        }) {
      assertThat(index).contains("[`" + name + "`](src/main/java/io/fenceline/examples/" + name);
    }
  }
}
