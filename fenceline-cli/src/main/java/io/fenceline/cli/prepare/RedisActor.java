package io.fenceline.cli.prepare;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Says what Redis would say to one run that finds its lock free, and keeps nothing.
 *
 * <p>It only makes the driver load its classes: if the store's protocol changes, the training of
 * the tool fails half-way, and the tool starts a little more slowly. {@code StartIT} notices.
 */
final class RedisActor implements AutoCloseable {
  private static final String HELLO =
      map("server", "redis", "version", "7.0.15", "mode", "standalone", "role", "master");
  private static final String INFO = bulk("redis_version:7.0.15\r\nrole:master\r\n");
  private static final String NUMBER = ":948716365657\r\n";

  private static final String UNKNOWN = "-NOSCRIPT No matching script.\r\n";

  private final ServerSocket socket;
  private final AtomicBoolean knowsScripts = new AtomicBoolean();

  private RedisActor(ServerSocket socket) {
    this.socket = socket;
  }

  static RedisActor start() throws IOException {
    RedisActor actor = new RedisActor(new ServerSocket(0, 0, InetAddress.getLoopbackAddress()));
    startDaemon(actor::accept);
    return actor;
  }

  int port() {
    return socket.getLocalPort();
  }

  private static void startDaemon(Runnable task) {
    Thread thread = new Thread(task, "redis");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    try {
      while (true) {
        Socket client = socket.accept();
        startDaemon(() -> serve(client));
      }
    } catch (IOException e) {
      // It was closed.
    }
  }

  private void serve(Socket client) {
    try (client;
        DataInputStream in = new DataInputStream(client.getInputStream());
        OutputStream out = client.getOutputStream()) {
      while (true) {
        out.write(answer(request(in)).getBytes(StandardCharsets.ISO_8859_1));
        out.flush();
      }
    } catch (IOException e) {
      // The client is gone.
    }
  }

  /** An array of words, each with its length before it. */
  private static List<String> request(DataInputStream in) throws IOException {
    List<String> words = new ArrayList<>();
    for (int left = length(in); left > 0; left--) {
      byte[] word = new byte[length(in)];
      in.readFully(word);
      in.readFully(new byte[2]);
      words.add(new String(word, StandardCharsets.ISO_8859_1));
    }
    return words;
  }

  private static int length(DataInputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = in.readUnsignedByte(); next != '\n'; next = in.readUnsignedByte()) {
      line.append((char) next);
    }
    return Integer.parseInt(line.substring(1).strip());
  }

  private String answer(List<String> request) {
    return switch (request.get(0).toUpperCase(Locale.ROOT)) {
      case "HELLO" -> HELLO;
      case "INFO" -> INFO;
      case "SCRIPT" -> bulk("0".repeat(40));
      case "EVALSHA" ->
          knowsScripts.getAndSet(true)
              ? script(Integer.parseInt(request.get(2)), request.get(3))
              : UNKNOWN;
      case "EVAL" -> script(Integer.parseInt(request.get(2)), request.get(3));
      default -> "+OK\r\n";
    };
  }

  /** The server's clock, a grant's number, or that a release found its grant. */
  private static String script(int keys, String firstKey) {
    if (firstKey.endsWith("!")) {
      return "*2\r\n:" + System.currentTimeMillis() + "\r\n$0\r\n\r\n";
    }
    return keys > 1 ? NUMBER : ":1\r\n";
  }

  private static String map(String... keysAndValues) {
    StringBuilder map = new StringBuilder("%" + keysAndValues.length / 2 + "\r\n");
    for (String word : keysAndValues) {
      map.append(bulk(word));
    }
    return map.toString();
  }

  private static String bulk(String text) {
    return "$" + text.length() + "\r\n" + text + "\r\n";
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
