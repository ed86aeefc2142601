package io.fenceline.testbed.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The user that a process runs as: our own, or another one where root is refused. */
public final class RunAs {

  private final @Nullable String user;

  private RunAs(@Nullable String user) {
    this.user = user;
  }

  public static RunAs self() {
    return new RunAs(null);
  }

  /** {@code user} if we are root, otherwise ourselves. */
  public static RunAs insteadOfRoot(String user) {
    return new RunAs("root".equals(System.getProperty("user.name")) ? user : null);
  }

  List<String> setprivOptions() {
    return user == null
        ? List.of()
        : List.of("--reuid=" + user, "--regid=" + user, "--init-groups");
  }

  /** Gives a folder (not what is in it) to the user. */
  public void own(Path folder) {
    if (user == null) {
      return;
    }
    try {
      UserPrincipal owner =
          folder.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName(user);
      Files.setOwner(folder, owner);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
