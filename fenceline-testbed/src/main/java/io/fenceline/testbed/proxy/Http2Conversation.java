package io.fenceline.testbed.proxy;

import java.io.IOException;
import java.util.List;

/**
 * HTTP/2 without TLS, as gRPC speaks it. A request is the data that a client sends on a stream; its
 * reply is the next that the server sends on the same stream. Headers stay compressed: tests match
 * on what is in the data, such as a key.
 */
final class Http2Conversation extends Conversation {

  private static final int PREFACE_BYTES = 24;
  private static final int DATA = 0;
  private static final int HEADERS = 1;

  private static final List<String> KINDS =
      List.of(
          "DATA",
          "HEADERS",
          "PRIORITY",
          "RST_STREAM",
          "SETTINGS",
          "PUSH_PROMISE",
          "PING",
          "GOAWAY",
          "WINDOW_UPDATE",
          "CONTINUATION");

  // Of the thread that reads from the client.
  private boolean greeted;

  @Override
  FromClient readFromClient(int first, FrameReader in) throws IOException {
    if (!greeted) {
      greeted = true;
      if (first != 'P') {
        becomeOpaque(); // TLS, or a plain GET
        in.readAvailable();
        return FromClient.part(in.take(), BYTES);
      }
      in.readBytes(PREFACE_BYTES - 1);
      return FromClient.part(in.take(), "PREFACE");
    }
    Header header = Header.read(first, in);
    byte[] body = in.readBytes(header.length);
    byte[] bytes = in.take();
    return header.type == DATA
        ? FromClient.request(bytes, new Frame(header.kind(), text(body)), header.stream)
        : FromClient.part(bytes, header.kind());
  }

  @Override
  FromServer readFromServer(int first, FrameReader in) throws IOException {
    Header header = Header.read(first, in);
    in.readBytes(header.length);
    boolean answers = header.type == DATA || header.type == HEADERS;
    return answers ? FromServer.reply(in.take(), header.stream) : FromServer.other(in.take());
  }

  private record Header(int length, int type, int stream) {

    static Header read(int first, FrameReader in) throws IOException {
      int length = first << 16 | in.readByte() << 8 | in.readByte();
      int type = in.readByte();
      in.readByte(); // flags
      return new Header(length, type, in.readInt() & Integer.MAX_VALUE);
    }

    String kind() {
      return type < KINDS.size() ? KINDS.get(type) : "FRAME" + type;
    }
  }
}
