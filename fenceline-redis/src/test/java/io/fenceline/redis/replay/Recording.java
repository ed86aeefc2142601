package io.fenceline.redis.replay;

import io.fenceline.redis.layout.Answers;
import io.fenceline.redis.layout.Call;
import io.fenceline.redis.layout.Script;
import io.fenceline.redis.support.Clients;
import io.fenceline.testbed.server.RedisServer;
import io.fenceline.testbed.server.RespClient;
import io.fenceline.testkit.Eventually;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * All calls of scripts that a server gets, in the order in which it does them, as {@code MONITOR}
 * tells.
 */
public final class Recording implements AutoCloseable {
  private static final Pattern LINE =
      Pattern.compile("([0-9]+)\\.([0-9]{6}) \\[[0-9]+ ([^\\]]*)\\] (.*)");
  private static final Pattern WORD = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"");

  private final RedisServer server;
  private final RespClient monitor;
  private final Thread reader;
  private final List<String> lines = new CopyOnWriteArrayList<>();

  private Recording(RedisServer server) throws IOException {
    this.server = server;
    this.monitor = RespClient.connect(server.host(), server.port());
    monitor.call("MONITOR");
    monitor.readTimeout(Duration.ZERO);
    this.reader = new Thread(this::read, "recording");
    reader.setDaemon(true);
    reader.start();
  }

  public static Recording of(RedisServer server) {
    try {
      return new Recording(server);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void read() {
    List<String> page = new ArrayList<>();
    try {
      while (true) {
        String line = String.valueOf(monitor.read());
        if (line.contains("\"EVAL") || line.contains("\"ECHO\"")) {
          page.add(line);
        }
        if (page.size() > 100 || line.contains("\"ECHO\"")) {
          lines.addAll(page); // Few copies of a long list.
          page.clear();
        }
      }
    } catch (IOException e) {
      // Closed.
    }
  }

  /** What has arrived until now. */
  public List<RecordedRequest> requests(RecordedRequest.Dialect dialect) {
    String mark = UUID.randomUUID().toString();
    server.command("ECHO", mark);
    Eventually.until(
        Clients.AMPLE,
        "the monitor to catch up",
        () -> lines.stream().anyMatch(line -> line.contains(mark)));
    Map<String, Script> known = new HashMap<>();
    for (Script script : Script.values()) {
      known.put(new String(script.hash(), StandardCharsets.US_ASCII), script);
    }
    List<RecordedRequest> all = new ArrayList<>();
    for (String line : lines) {
      RecordedRequest request = parse(line, all.size(), known, dialect);
      if (request != null && !request.touches().isEmpty()) {
        all.add(request);
      }
    }
    return all;
  }

  private static @Nullable RecordedRequest parse(
      String line, int index, Map<String, Script> known, RecordedRequest.Dialect dialect) {
    Matcher parts = LINE.matcher(line);
    if (!parts.matches() || parts.group(3).equals("lua")) {
      return null;
    }
    List<byte[]> words = new ArrayList<>();
    Matcher word = WORD.matcher(parts.group(4));
    while (word.find()) {
      words.add(unescaped(word.group(1)));
    }
    String command = Answers.text(words.get(0)).toUpperCase(java.util.Locale.ROOT);
    if (!command.equals("EVALSHA") && !command.equals("EVAL")) {
      return null;
    }
    byte[] which = words.get(1);
    Script script =
        known.get(
            command.equals("EVAL")
                ? HexFormat.of().formatHex(Script.sha1(which))
                : Answers.text(which));
    if (script == null) {
      return null;
    }
    int keys = Integer.parseInt(Answers.text(words.get(2)));
    Call call =
        new Call(
            script,
            words.subList(3, 3 + keys).toArray(new byte[0][]),
            words.subList(3 + keys, words.size()).toArray(new byte[0][]));
    long micros = Long.parseLong(parts.group(1)) * 1_000_000 + Long.parseLong(parts.group(2));
    return new RecordedRequest(index, micros, call, dialect.touches(call));
  }

  /** As Redis quotes: printable characters, and the others by a backslash. */
  private static byte[] unescaped(String quoted) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int i = 0; i < quoted.length(); i++) {
      char next = quoted.charAt(i);
      if (next != '\\') {
        bytes.write(next);
        continue;
      }
      char escaped = quoted.charAt(++i);
      switch (escaped) {
        case 'n' -> bytes.write('\n');
        case 'r' -> bytes.write('\r');
        case 't' -> bytes.write('\t');
        case 'a' -> bytes.write(7);
        case 'b' -> bytes.write('\b');
        case 'x' -> {
          bytes.write(HexFormat.fromHexDigits(quoted, i + 1, i + 3));
          i += 2;
        }
        default -> bytes.write(escaped);
      }
    }
    return bytes.toByteArray();
  }

  /**
   * Splits a recording into parts that have no name in common, each in its order. Of several looks
   * in a row, one is kept.
   */
  static List<List<RecordedRequest>> apart(List<RecordedRequest> all) {
    Map<String, String> parents = new HashMap<>();
    for (RecordedRequest request : all) {
      String first = root(parents, request.touches().get(0).name());
      request.touches().forEach(touch -> parents.put(root(parents, touch.name()), first));
    }
    Map<String, List<RecordedRequest>> parts = new LinkedHashMap<>();
    for (RecordedRequest request : all) {
      List<RecordedRequest> part =
          parts.computeIfAbsent(
              root(parents, request.touches().get(0).name()), any -> new ArrayList<>());
      boolean again = isLook(request) && !part.isEmpty() && isLook(part.get(part.size() - 1));
      if (!again) {
        part.add(request);
      }
    }
    return List.copyOf(parts.values());
  }

  private static boolean isLook(RecordedRequest request) {
    Script script = request.call().script();
    return script == Script.INSPECT || script == Script.REDLOCK_INSPECT;
  }

  /** What a part is but for names and owners, and small differences in time. */
  static String shape(List<RecordedRequest> part) {
    Map<String, Integer> seen = new HashMap<>();
    StringBuilder shape = new StringBuilder();
    long before = part.get(0).micros();
    for (RecordedRequest request : part) {
      shape.append((request.micros() - before) / 1_000_000).append(request.call());
      before = request.micros();
      request
          .touches()
          .forEach(
              touch ->
                  shape
                      .append(seen.computeIfAbsent(touch.name(), any -> seen.size()))
                      .append(seen.computeIfAbsent(touch.owner(), any -> seen.size())));
      if (request.call().script() == Script.CLAIM) {
        for (int arg = 1; arg <= 5; arg++) {
          shape.append(' ').append(Answers.text(request.call().args()[arg]));
        }
      }
      if (request.call().script() == Script.REDLOCK_CLAIM) {
        for (int arg = 4; arg <= 8; arg++) {
          shape.append(' ').append(Answers.text(request.call().args()[arg]));
        }
      }
      if (request.call().script() == Script.REDLOCK_END) {
        shape.append(' ').append(Answers.text(request.call().args()[2]));
        shape.append(Answers.text(request.call().args()[3]).length());
      }
      if (request.call().script() == Script.RELEASE) {
        shape.append(' ').append(Answers.text(request.call().args()[1]));
      }
    }
    return shape.toString();
  }

  private static String root(Map<String, String> parents, String name) {
    String root = name;
    while (!parents.getOrDefault(root, root).equals(root)) {
      root = parents.get(root);
    }
    return root;
  }

  @Override
  public void close() {
    try {
      monitor.close();
      reader.join(Clients.AMPLE.toMillis());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
