package io.fenceline.testbed.proxy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The Redis protocol, versions 2 and 3. Replies come in the order of their requests. */
final class RespConversation extends Conversation {

  private static final String IN_ORDER = "next";

  // Confirmed by messages of the kind that publications come in, one for each channel, not by a
  // reply.
  private static final Set<String> SUBSCRIPTIONS =
      Set.of(
          "SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE", "SSUBSCRIBE", "SUNSUBSCRIBE");
  private static final Set<String> PUBLICATIONS = Set.of("MESSAGE", "PMESSAGE", "SMESSAGE");

  // In version 2, a publication is an array like any other; it can only come after this.
  private volatile boolean subscribed;

  @Override
  FromClient readFromClient(int first, FrameReader in) throws IOException {
    List<String> words = first == '*' ? readCommand(in) : readInline(first, in);
    String kind = words.isEmpty() ? "" : words.get(0).toUpperCase(Locale.ROOT);
    Frame frame = new Frame(kind, String.join(" ", words));
    byte[] bytes = in.take();
    if (kind.isEmpty()) {
      return FromClient.part(bytes, kind); // an empty line, which Redis ignores
    }
    if (SUBSCRIPTIONS.contains(kind)) {
      subscribed = true;
      return FromClient.unanswered(bytes, frame);
    }
    return FromClient.request(bytes, frame, IN_ORDER);
  }

  private static List<String> readCommand(FrameReader in) throws IOException {
    int count = Integer.parseInt(in.readLine());
    List<String> words = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String header = in.readLine();
      words.add(text(in.readBytes(Integer.parseInt(header.substring(1)))));
      in.readBytes(2);
    }
    return words;
  }

  private static List<String> readInline(int first, FrameReader in) throws IOException {
    String line = first == '\n' ? "" : (char) first + in.readLine();
    return line.isBlank() ? List.of() : List.of(line.strip().split("\\s+"));
  }

  @Override
  FromServer readFromServer(int first, FrameReader in) throws IOException {
    List<String> words = new ArrayList<>();
    readValue(first, in, words);
    byte[] bytes = in.take();
    String kind = words.isEmpty() ? "" : words.get(0).toUpperCase(Locale.ROOT);
    boolean array = first == '*';
    if (first == '>' || (array && subscribed && PUBLICATIONS.contains(kind))) {
      return FromServer.push(bytes, new Frame(kind, String.join(" ", words)));
    }
    if (array && subscribed && SUBSCRIPTIONS.contains(kind)) {
      return FromServer.push(bytes, new Frame(kind, String.join(" ", words)));
    }
    return FromServer.reply(bytes, IN_ORDER);
  }

  /** Reads a value of any type; adds the strings and numbers in it to {@code words}. */
  private static void readValue(int type, FrameReader in, List<String> words) throws IOException {
    String line = in.readLine();
    switch (type) {
      case '$', '!', '=' -> {
        String bulk = readBulk(Integer.parseInt(line), in);
        if (bulk != null) {
          words.add(bulk);
        }
      }
      case '*', '~', '>' -> readValues(Integer.parseInt(line), in, words);
      case '%' -> readValues(2 * Integer.parseInt(line), in, words);
      case '|' -> {
        readValues(2 * Integer.parseInt(line), in, words);
        readValue(in.readByte(), in, words); // attributes stand before their value
      }
      default -> words.add(line);
    }
  }

  private static @Nullable String readBulk(int length, FrameReader in) throws IOException {
    if (length < 0) {
      return null;
    }
    String bulk = text(in.readBytes(length));
    in.readBytes(2);
    return bulk;
  }

  private static void readValues(int count, FrameReader in, List<String> words) throws IOException {
    for (int i = 0; i < count; i++) {
      readValue(in.readByte(), in, words);
    }
  }
}
