package io.fenceline.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * The terminal pictures are what {@code docs/pictures/Make.java} draws, their commands are those of
 * the README, and still print what the picture shows.
 */
class PicturesIT {
  private static final Path FOLDER = Repository.ROOT.resolve("docs/pictures");
  private static final Pattern TEXT = Pattern.compile("<text [^>]*>(.*)</text>");

  @TempDir static Path folder;

  private static List<Path> pictures() {
    return Repository.files(".svg").stream().filter(file -> file.startsWith(FOLDER)).toList();
  }

  private static List<Commands.Command> commands(Path picture) {
    StringBuilder console = new StringBuilder();
    Matcher text = TEXT.matcher(Repository.read(picture));
    while (text.find()) {
      String line = text.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
      console.append(line).append('\n');
    }
    return Commands.console(console.toString());
  }

  @TestFactory
  Stream<DynamicTest> pictures_showWhatTheirCommandsPrint() {
    return pictures().stream()
        .map(
            picture ->
                DynamicTest.dynamicTest(
                    picture.getFileName().toString(), () -> assertStillPrinted(picture)));
  }

  private static void assertStillPrinted(Path picture) throws Exception {
    List<Commands.Command> commands = commands(picture);
    List<List<String>> shown =
        commands.stream().map(command -> Expectation.plain(command.output())).toList();
    List<List<String>> printed = play(commands);
    // The demo lets processes race: on a busy machine a scene may go otherwise once in a while.
    for (int again = 0; again < 2 && !printed.equals(shown); again++) {
      printed = play(commands);
    }
    assertThat(printed).as("%s: what its commands print", picture).isEqualTo(shown);
  }

  private static List<List<String>> play(List<Commands.Command> commands) throws Exception {
    return new Shell(Files.createTempDirectory(folder, "x"))
        .run(commands.stream().map(Commands.Command::line).toList()).stream()
            .map(result -> Expectation.plain(result.output()))
            .toList();
  }

  @Test
  void pictures_areWhatTheScriptDraws() throws Exception {
    for (Path picture : pictures()) {
      Process make =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  FOLDER.resolve("Make.java").toString(),
                  "--redraw",
                  picture.toString())
              .directory(Repository.ROOT.toFile())
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      String drawn = new String(make.getInputStream().readAllBytes());
      assertThat(make.waitFor()).isZero();
      assertThat(drawn)
          .as("%s; make it anew: java docs/pictures/Make.java", picture)
          .isEqualTo(Repository.read(picture));
    }
  }

  @Test
  void commandsOfThePictures_areThoseOfTheReadmeAndOfTheScript() {
    String script = Repository.read(FOLDER.resolve("pictures.txt"));
    for (String readme : List.of("README.md", "README.zh-TW.md")) {
      String text = Repository.read(Repository.ROOT.resolve(readme));
      Set<String> tools = new TreeSet<>();
      for (Path picture : pictures()) {
        assertThat(text).contains("docs/pictures/" + picture.getFileName());
        List<String> lines = new ArrayList<>();
        for (Commands.Command command : commands(picture)) {
          lines.add(command.line());
          tools.add(command.line().split(" ")[1]);
        }
        assertThat(script).contains("\n$ " + String.join("\n$ ", lines) + "\n");
        assertThat(text).as("the first command of %s", picture).contains(lines.get(0));
      }
      assertThat(tools).containsExactly("demo", "run");
    }
  }
}
