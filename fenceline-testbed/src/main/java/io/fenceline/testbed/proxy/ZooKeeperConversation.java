package io.fenceline.testbed.proxy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;

/** The protocol of ZooKeeper: frames with a length; a reply carries the number of its request. */
final class ZooKeeperConversation extends Conversation {

  private static final int NOTIFICATION = -1;
  private static final String CONNECT = "connect";

  private static final Map<Integer, String> OPERATIONS =
      Map.ofEntries(
          Map.entry(1, "create"),
          Map.entry(2, "delete"),
          Map.entry(3, "exists"),
          Map.entry(4, "getData"),
          Map.entry(5, "setData"),
          Map.entry(6, "getACL"),
          Map.entry(7, "setACL"),
          Map.entry(8, "getChildren"),
          Map.entry(9, "sync"),
          Map.entry(11, "ping"),
          Map.entry(12, "getChildren2"),
          Map.entry(13, "check"),
          Map.entry(14, "multi"),
          Map.entry(15, "create2"),
          Map.entry(16, "reconfig"),
          Map.entry(17, "checkWatches"),
          Map.entry(18, "removeWatches"),
          Map.entry(19, "createContainer"),
          Map.entry(20, "deleteContainer"),
          Map.entry(21, "createTTL"),
          Map.entry(22, "multiRead"),
          Map.entry(100, "auth"),
          Map.entry(101, "setWatches"),
          Map.entry(102, "sasl"),
          Map.entry(103, "getEphemerals"),
          Map.entry(104, "getAllChildrenNumber"),
          Map.entry(105, "setWatches2"),
          Map.entry(106, "addWatch"),
          Map.entry(107, "whoAmI"),
          Map.entry(-11, "closeSession"));

  // Of the thread that reads from the client.
  private boolean connected;

  // Of the thread that reads from the server.
  private boolean accepted;

  @Override
  FromClient readFromClient(int first, FrameReader in) throws IOException {
    if (!connected && Character.isLetter(first)) {
      becomeOpaque(); // a four-letter word; as a length it would be over a gigabyte
      in.readAvailable();
      byte[] bytes = in.take();
      return FromClient.request(bytes, new Frame(text(bytes), ""), BYTES);
    }
    byte[] body = readBody(first, in);
    byte[] bytes = in.take();
    if (!connected) {
      connected = true;
      return FromClient.request(bytes, new Frame(CONNECT, ""), CONNECT);
    }
    ByteBuffer header = ByteBuffer.wrap(body);
    int number = header.getInt();
    int type = header.getInt();
    String kind = OPERATIONS.getOrDefault(type, "operation" + type);
    String text = "auth".equals(kind) ? "" : text(body);
    return FromClient.request(bytes, new Frame(kind, text), number);
  }

  @Override
  FromServer readFromServer(int first, FrameReader in) throws IOException {
    byte[] body = readBody(first, in);
    byte[] bytes = in.take();
    if (!accepted) {
      accepted = true;
      return FromServer.reply(bytes, CONNECT);
    }
    int number = ByteBuffer.wrap(body).getInt();
    return number == NOTIFICATION
        ? FromServer.push(bytes, new Frame("notification", text(body)))
        : FromServer.reply(bytes, number);
  }

  private static byte[] readBody(int first, FrameReader in) throws IOException {
    int length = first << 24 | in.readByte() << 16 | in.readByte() << 8 | in.readByte();
    return in.readBytes(length);
  }
}
