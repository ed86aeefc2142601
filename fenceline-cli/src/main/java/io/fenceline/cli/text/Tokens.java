package io.fenceline.cli.text;

import io.fenceline.Held;
import io.fenceline.Hold;
import io.fenceline.MultiHold;
import io.fenceline.PermitHold;
import java.util.List;
import java.util.stream.Collectors;

/** Tokens as commands get them: one line for each name. */
public final class Tokens {
  private Tokens() {}

  public static String of(Held held, List<String> names) {
    if (held instanceof Hold hold) {
      return String.valueOf(hold.token());
    } else if (held instanceof PermitHold hold) {
      return String.valueOf(hold.token());
    }
    MultiHold all = (MultiHold) held;
    return names.stream()
        .map(name -> String.valueOf(all.hold(name).token()))
        .collect(Collectors.joining("\n"));
  }
}
