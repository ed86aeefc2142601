import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Makes the terminal pictures of the README from what the commands really print.
 *
 * <p>{@code java docs/pictures/Make.java} runs the commands of {@code pictures.txt} with an empty home
 * folder and draws what they print. {@code java docs/pictures/Make.java --redraw FILE} prints the
 * picture that this program would draw for the text that is in a picture already; the build compares
 * the two, and runs the commands in it again.
 */
public final class Make {
  private static final Path ROOT = root();
  private static final Path FOLDER = ROOT.resolve("docs/pictures");
  private static final Pattern TEXT = Pattern.compile("<text [^>]*>(.*)</text>");

  private static final int CHARACTER = 8;
  private static final int LINE = 18;
  private static final int MARGIN = 16;
  private static final int BAR = 30;

  private Make() {}

  public static void main(String[] args) throws Exception {
    if (args.length == 2 && args[0].equals("--redraw")) {
      System.out.print(draw(textOf(Files.readString(Path.of(args[1])))));
      return;
    }
    if (args.length != 0) {
      System.err.println("Usage: java docs/pictures/Make.java [--redraw FILE]");
      System.exit(64);
    }
    String file = null;
    List<String> commands = new ArrayList<>();
    List<String> lines = new ArrayList<>(Files.readAllLines(FOLDER.resolve("pictures.txt")));
    lines.add("end.svg");
    for (String line : lines) {
      if (line.endsWith(".svg")) {
        if (file != null) {
          Files.writeString(FOLDER.resolve(file), draw(play(commands)));
          System.out.println("made " + file);
        }
        file = line;
        commands.clear();
      } else if (line.startsWith("$ ")) {
        commands.add(line.substring(2));
      }
    }
  }

  private static Path root() {
    Path here = Path.of("").toAbsolutePath();
    while (!Files.exists(here.resolve("docs/pictures/Make.java"))) {
      here = here.getParent();
    }
    return here;
  }

  /** What one would see: the commands, and below each of them what it printed. */
  private static List<String> play(List<String> commands) throws IOException, InterruptedException {
    Path home = Files.createTempDirectory("home");
    List<String> seen = new ArrayList<>();
    for (String command : commands) {
      seen.add("$ " + command);
      ProcessBuilder builder = new ProcessBuilder("bash", "-c", command).directory(ROOT.toFile());
      builder.environment().keySet().removeIf(name -> name.matches("(FENCELINE_STORE|FENCELINE_TOKEN|FENCELINE_NAME|XDG_.*)"));
      builder.environment().put("HOME", home.toString());
      Process process = builder.redirectErrorStream(true).start();
      seen.addAll(new String(process.getInputStream().readAllBytes()).lines().toList());
      if (process.waitFor() != 0) {
        throw new IllegalStateException(command + " failed: " + seen);
      }
    }
    return seen;
  }

  private static List<String> textOf(String svg) {
    List<String> lines = new ArrayList<>();
    Matcher text = TEXT.matcher(svg);
    while (text.find()) {
      lines.add(text.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"));
    }
    return lines;
  }

  private static String draw(List<String> lines) {
    int columns = lines.stream().mapToInt(String::length).max().orElse(0);
    int width = columns * CHARACTER + 2 * MARGIN;
    int height = BAR + lines.size() * LINE + MARGIN;
    StringBuilder svg = new StringBuilder();
    svg.append(
        """
        <svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">
        <rect width="100%%" height="100%%" rx="8" fill="#1b1f24"/>
        <circle cx="18" cy="15" r="5" fill="#5b626b"/>
        <circle cx="36" cy="15" r="5" fill="#5b626b"/>
        <circle cx="54" cy="15" r="5" fill="#5b626b"/>
        <g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13">
        """
            .formatted(width, height, width, height));
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      svg.append(
          "<text x=\"%d\" y=\"%d\" xml:space=\"preserve\"%s fill=\"%s\">%s</text>\n"
              .formatted(
                  MARGIN,
                  BAR + (i + 1) * LINE - 4,
                  line.isEmpty() ? "" : " textLength=\"%d\"".formatted(line.length() * CHARACTER),
                  color(line),
                  line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")));
    }
    return svg.append("</g>\n</svg>\n").toString();
  }

  private static String color(String line) {
    if (line.startsWith("$ ")) {
      return "#7ee787";
    }
    return line.contains("OVERSOLD") || line.contains("refused") ? "#ffa198" : "#d0d7de";
  }
}
