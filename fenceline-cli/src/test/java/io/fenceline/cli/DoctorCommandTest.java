package io.fenceline.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.diagnosis.Finding;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class DoctorCommandTest {
  @Test
  void whatAServerHasSaid_doesNotSteerTheTerminal() {
    String evil = "\u001b]0;owned\u0007\nok       all: is well\u009b31m\u202e";
    PrintStream out = System.out;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    try {
      DoctorCommand.print(List.of(Finding.serious(evil, evil, evil, evil)), true);
    } finally {
      System.setOut(out);
    }
    String seen = bytes.toString(StandardCharsets.UTF_8);
    assertThat(seen.chars().filter(c -> c != '\n'))
        .noneMatch(c -> Character.isISOControl(c) || Character.getType(c) == Character.FORMAT);
    assertThat(seen.lines()).noneMatch(line -> line.startsWith("ok"));
  }
}
