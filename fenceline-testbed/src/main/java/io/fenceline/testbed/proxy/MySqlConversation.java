package io.fenceline.testbed.proxy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * The protocol of MariaDB and MySQL. Packets carry a number; a command has the number 0, and the
 * first packet of its answer the number 1.
 */
final class MySqlConversation extends Conversation {

  private static final String IN_ORDER = "next";
  private static final int CLIENT_SSL = 0x0800;

  private static final Map<Integer, String> KINDS =
      Map.ofEntries(
          Map.entry(0x01, "Quit"),
          Map.entry(0x02, "InitDb"),
          Map.entry(0x03, "Query"),
          Map.entry(0x09, "Statistics"),
          Map.entry(0x0e, "Ping"),
          Map.entry(0x11, "ChangeUser"),
          Map.entry(0x16, "StmtPrepare"),
          Map.entry(0x17, "StmtExecute"),
          Map.entry(0x18, "StmtSendLongData"),
          Map.entry(0x19, "StmtClose"),
          Map.entry(0x1a, "StmtReset"),
          Map.entry(0x1b, "SetOption"),
          Map.entry(0x1c, "StmtFetch"),
          Map.entry(0x1f, "ResetConnection"),
          Map.entry(0xfa, "StmtBulkExecute"));

  // Of the thread that reads from the client.
  private boolean greeted;

  // Of the thread that reads from the server.
  private int lastNumber = -1;

  @Override
  FromClient readFromClient(int first, FrameReader in) throws IOException {
    int length = first | in.readByte() << 8 | in.readByte() << 16;
    int number = in.readByte();
    byte[] body = in.readBytes(length);
    byte[] bytes = in.take();
    if (number != 0) {
      if (!greeted && length == 32 && (body[1] << 8 & CLIENT_SSL) != 0) {
        becomeOpaque(); // a request for TLS is as long as the head of a log-in
      }
      greeted = true;
      return FromClient.part(bytes, "Handshake");
    }
    int command = length == 0 ? 0 : body[0] & 0xff;
    String kind = KINDS.getOrDefault(command, "Command" + command);
    String text = length == 0 ? "" : new String(body, 1, length - 1, StandardCharsets.UTF_8);
    Frame frame = new Frame(kind, text);
    return switch (kind) {
      case "Quit", "StmtClose", "StmtSendLongData" -> FromClient.unanswered(bytes, frame);
      default -> FromClient.request(bytes, frame, IN_ORDER);
    };
  }

  @Override
  FromServer readFromServer(int first, FrameReader in) throws IOException {
    int length = first | in.readByte() << 8 | in.readByte() << 16;
    int number = in.readByte();
    in.readBytes(length);
    // In a long answer, the numbers go round: then 1 follows 0.
    boolean startsAnswer = number == 1 && lastNumber != 0;
    lastNumber = number;
    return startsAnswer ? FromServer.reply(in.take(), IN_ORDER) : FromServer.other(in.take());
  }
}
