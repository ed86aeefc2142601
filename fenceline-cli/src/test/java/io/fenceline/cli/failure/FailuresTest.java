package io.fenceline.cli.failure;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.fenceline.StoreRefusedException;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FailuresTest {
  /** No message can be made of it, as when there is no memory left. */
  private static final class Unspeakable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    @Override
    public String getMessage() {
      throw new OutOfMemoryError("for a message");
    }
  }

  @Test
  void aFailureThatCanNotBeReported_haltsTheToolAllTheSame() {
    List<Integer> halted = new ArrayList<>();

    Throwable thrown = catchThrowable(() -> Failures.reportAndHalt(new Unspeakable(), halted::add));

    assertThat(halted).containsExactly(ExitCode.INTERNAL);
    assertThat(thrown).isInstanceOf(OutOfMemoryError.class);
  }

  @Test
  void aStoreThatRefused_isNotSaidToBeDown() {
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    PrintStream before = System.err;
    System.setErr(new PrintStream(said, true, UTF_8));
    try {
      String what = "the user lacks a right; grant it";
      assertThat(Failures.report(new StoreRefusedException(what, null), List.of(), false))
          .isEqualTo(ExitCode.UNAVAILABLE);
      assertThat(said.toString(UTF_8).strip()).endsWith(what);
    } finally {
      System.setErr(before);
    }
  }

  @Test
  void aFailureThatIsReported_haltsWithItsExitCode() {
    List<Integer> halted = new ArrayList<>();
    Failures.reportAndHalt(Failure.usage("nothing is wrong, this is a test"), halted::add);
    assertThat(halted).containsExactly(ExitCode.USAGE);
  }
}
