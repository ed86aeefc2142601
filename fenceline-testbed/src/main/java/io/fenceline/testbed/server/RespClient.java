package io.fenceline.testbed.server;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The Redis protocol (RESP2) without a driver: one connection, one command at a time.
 *
 * <p>For tests that prove what goes over the wire: no driver repeats, pools or pipelines here. Not
 * thread-safe.
 */
public final class RespClient implements AutoCloseable {

  private static final int TIMEOUT_MILLIS = 5_000;

  private final Socket socket;
  private final InputStream in;

  private final byte[] buffer = new byte[16 * 1024];
  private int at;
  private int filled;

  private RespClient(Socket socket) throws IOException {
    this.socket = socket;
    this.in = socket.getInputStream();
  }

  /** Connects; a reply that does not come within five seconds is an {@link IOException}. */
  public static RespClient connect(String host, int port) throws IOException {
    return connect(host, port, null);
  }

  static RespClient connect(String host, int port, @Nullable TlsFiles tls) throws IOException {
    Socket socket = new Socket();
    try {
      socket.setSoTimeout(TIMEOUT_MILLIS);
      socket.connect(new InetSocketAddress(host, port), TIMEOUT_MILLIS);
      return new RespClient(
          tls == null
              ? socket
              : tls.clientContext().getSocketFactory().createSocket(socket, host, port, true));
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /**
   * Sends a command and reads its reply.
   *
   * @return a {@code String}, a {@code Long}, a {@code List} of these, or null for nil
   * @throws RedisErrorException if Redis answers with an error
   */
  public @Nullable Object call(String... words) throws IOException {
    send(words);
    return read();
  }

  /** Sends a command and does not wait for its reply. */
  public void send(String... words) throws IOException {
    ByteArrayOutputStream request = new ByteArrayOutputStream();
    request.writeBytes(ascii("*" + words.length + "\r\n"));
    for (String word : words) {
      byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
      request.writeBytes(ascii("$" + bytes.length + "\r\n"));
      request.writeBytes(bytes);
      request.writeBytes(ascii("\r\n"));
    }
    socket.getOutputStream().write(request.toByteArray());
    socket.getOutputStream().flush();
  }

  /** Sets how long a read waits. */
  public void readTimeout(Duration timeout) throws IOException {
    socket.setSoTimeout((int) timeout.toMillis());
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /** Reads one reply, or one publication; see {@link #call}. */
  public @Nullable Object read() throws IOException {
    String line = readLine();
    String rest = line.substring(1);
    return switch (line.charAt(0)) {
      case '+' -> rest;
      case ':' -> Long.valueOf(rest);
      case '-' -> throw new RedisErrorException(rest);
      case '$' -> readBulk(Integer.parseInt(rest));
      case '*' -> readArray(Integer.parseInt(rest));
      default -> throw new IOException("Not a RESP2 reply: " + line);
    };
  }

  private @Nullable String readBulk(int length) throws IOException {
    if (length < 0) {
      return null;
    }
    byte[] bytes = readBytes(length);
    readBytes(2); // the end of the line
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private @Nullable List<@Nullable Object> readArray(int length) throws IOException {
    if (length < 0) {
      return null;
    }
    List<@Nullable Object> array = new ArrayList<>(length);
    for (int i = 0; i < length; i++) {
      try {
        array.add(read());
      } catch (RedisErrorException e) {
        array.add(e); // an error of one command in EXEC; the rest follows
      }
    }
    return array;
  }

  /** A recording of all that a server does has many long lines: they are not read byte by byte. */
  private String readLine() throws IOException {
    ByteArrayOutputStream begun = null;
    while (true) {
      int end = at;
      while (end < filled && buffer[end] != '\n') {
        end++;
      }
      if (end < filled) {
        String line = line(begun, end);
        at = end + 1;
        return line;
      }
      begun = begun == null ? new ByteArrayOutputStream() : begun;
      begun.write(buffer, at, filled - at);
      fill();
    }
  }

  private String line(@Nullable ByteArrayOutputStream begun, int end) throws IOException {
    String line = new String(buffer, at, end - at, StandardCharsets.UTF_8);
    if (begun != null) {
      begun.write(buffer, at, end - at);
      line = begun.toString(StandardCharsets.UTF_8);
    }
    int length = line.endsWith("\r") ? line.length() - 1 : line.length();
    if (length == 0) {
      throw new IOException("Not a RESP2 reply: an empty line");
    }
    return line.substring(0, length);
  }

  private byte[] readBytes(int length) throws IOException {
    byte[] bytes = new byte[length];
    int done = 0;
    while (done < length) {
      if (at == filled) {
        fill();
      }
      int part = Math.min(length - done, filled - at);
      System.arraycopy(buffer, at, bytes, done, part);
      at += part;
      done += part;
    }
    return bytes;
  }

  /** Reads on after all that was read has been used. */
  private void fill() throws IOException {
    at = 0;
    filled = 0;
    int read = in.read(buffer);
    if (read < 0) {
      throw new EOFException("Redis closed the connection");
    }
    filled = read;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
