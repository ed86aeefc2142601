package io.fenceline.examples;

import io.fenceline.Fenceline;
import io.fenceline.StaleTokenException;
import io.fenceline.fence.FencedFile;
import io.fenceline.recipes.election.Candidate;
import io.fenceline.recipes.election.Election;
import io.fenceline.recipes.election.Leadership;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * An instance of a service whose leader writes a report; told what to do by the lines of {@link
 * PausedLeader}.
 *
 * <p>Arguments: where the locks are, the folder of the report, what this instance is called.
 */
final class Reporter {
  private final Path folder;
  private final String name;
  private final BufferedReader requests =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

  private Reporter(Path folder, String name) {
    this.folder = folder;
    this.name = name;
  }

  public static void main(String[] arguments) throws Exception {
    Reporter reporter = new Reporter(Path.of(arguments[1]), arguments[2]);
    try (Fenceline locks = Fenceline.connect(arguments[0])) {
      System.out.println("ready");
      reporter.requests.readLine();
      try (Candidate candidate =
          Election.of(locks, "reports").lease(PausedLeader.LEASE).campaign(reporter::lead)) {
        new CountDownLatch(1).await(); // Until this process is ended.
      }
    }
  }

  private void lead(Leadership leadership) throws IOException {
    System.out.println("leads " + leadership.term());
    while (requests.readLine() != null) {
      // At least it goes with its term to where that is checked.
      System.out.println("open: " + writeAnyhow(null) + ", fenced: " + writeAnyhow(leadership));
    }
  }

  /** As much code does: that it was interrupted is no reason to stop. */
  private String writeAnyhow(@Nullable Leadership leadership) throws IOException {
    while (true) {
      boolean ignored = Thread.interrupted();
      try {
        return leadership == null ? writeOpen() : writeFenced(leadership);
      } catch (IOException | UncheckedIOException e) {
        if (!Thread.interrupted()) {
          throw e;
        }
      }
    }
  }

  private String writeOpen() throws IOException {
    Files.writeString(folder.resolve("open"), name);
    return "written";
  }

  private String writeFenced(Leadership leadership) {
    try {
      FencedFile.at(folder.resolve("fenced"))
          .replace(name.getBytes(StandardCharsets.UTF_8), leadership.fencingToken());
      return "written";
    } catch (StaleTokenException e) {
      return "refused";
    }
  }
}
