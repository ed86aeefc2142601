package io.fenceline.testbed.proxy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * The protocol of PostgreSQL. A request is what ends in Query or Sync; the server ends each answer
 * with ReadyForQuery, so that the n-th answer belongs to the n-th request, the start-up being the
 * first.
 */
final class PostgresConversation extends Conversation {

  private static final int SSL_REQUEST = 80877103;
  private static final int GSS_REQUEST = 80877104;
  private static final int CANCEL_REQUEST = 80877102;

  private static final Map<Character, String> KINDS =
      Map.ofEntries(
          Map.entry('Q', "Query"),
          Map.entry('P', "Parse"),
          Map.entry('B', "Bind"),
          Map.entry('D', "Describe"),
          Map.entry('E', "Execute"),
          Map.entry('S', "Sync"),
          Map.entry('C', "Close"),
          Map.entry('H', "Flush"),
          Map.entry('F', "FunctionCall"),
          Map.entry('X', "Terminate"),
          Map.entry('p', "Password"),
          Map.entry('d', "CopyData"),
          Map.entry('c', "CopyDone"),
          Map.entry('f', "CopyFail"));

  // Of the thread that reads from the client.
  private final Map<String, String> statements = new HashMap<>();
  private final StringBuilder text = new StringBuilder();
  private boolean started;
  private long requests;

  // Of the thread that reads from the server.
  private long answers;

  private volatile boolean encryptionAsked;

  @Override
  FromClient readFromClient(int first, FrameReader in) throws IOException {
    return started ? readMessage((char) first, in) : readStartup(first, in);
  }

  private FromClient readStartup(int first, FrameReader in) throws IOException {
    int length = first << 24 | in.readByte() << 16 | in.readByte() << 8 | in.readByte();
    int code = in.readInt();
    byte[] body = in.readBytes(length - 8);
    if (code == SSL_REQUEST || code == GSS_REQUEST) {
      encryptionAsked = true;
      return FromClient.part(in.take(), "EncryptionRequest");
    }
    if (code == CANCEL_REQUEST) {
      return FromClient.unanswered(in.take(), new Frame("CancelRequest", ""));
    }
    started = true;
    return FromClient.request(in.take(), new Frame("Startup", readable(body)), requests++);
  }

  private FromClient readMessage(char type, FrameReader in) throws IOException {
    byte[] body = in.readBytes(in.readInt() - 4);
    byte[] bytes = in.take();
    String kind = KINDS.getOrDefault(type, String.valueOf(type));
    describe(type, body);
    return switch (type) {
      case 'Q', 'S', 'F' -> {
        Frame request = new Frame(kind, text.toString());
        text.setLength(0);
        yield FromClient.request(bytes, request, requests++);
      }
      case 'X' -> FromClient.unanswered(bytes, new Frame(kind, ""));
      default -> FromClient.part(bytes, kind);
    };
  }

  /** Adds to the request's text; a statement prepared earlier is shown with its SQL. */
  private void describe(char type, byte[] body) {
    if (type == 'p') {
      return; // a password has no place in a text that tests print
    }
    if (type == 'P') {
      int sql = endOfString(body, 0) + 1;
      statements.put(string(body, 0), string(body, sql));
    } else if (type == 'B') {
      String name = string(body, endOfString(body, 0) + 1); // after the portal's
      if (!name.isEmpty()) {
        text.append(statements.getOrDefault(name, "")).append(' ');
      }
    } else if (type == 'C' && body.length > 0 && body[0] == 'S') {
      statements.remove(string(body, 1));
    }
    text.append(readable(body)).append(' ');
  }

  private static String string(byte[] body, int start) {
    return new String(body, start, endOfString(body, start) - start, StandardCharsets.UTF_8);
  }

  private static int endOfString(byte[] body, int start) {
    int end = start;
    while (body[end] != 0) {
      end++;
    }
    return end;
  }

  private static String readable(byte[] body) {
    return text(body).replace('\0', ' ').strip();
  }

  @Override
  FromServer readFromServer(int first, FrameReader in) throws IOException {
    if (encryptionAsked) {
      encryptionAsked = false;
      if (first != 'N') {
        becomeOpaque();
      }
      return FromServer.other(in.take());
    }
    byte[] body = in.readBytes(in.readInt() - 4);
    byte[] bytes = in.take();
    return switch (first) {
      case 'A' -> FromServer.push(bytes, new Frame("Notification", readable(body)));
      // Not only the first message of an answer carries its number: a long request may be
      // answered in part before its end has come by here.
      case 'Z' -> FromServer.reply(bytes, answers++);
      default -> FromServer.reply(bytes, answers);
    };
  }
}
