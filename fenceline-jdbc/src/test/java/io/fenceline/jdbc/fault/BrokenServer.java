package io.fenceline.jdbc.fault;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.locks.LockSupport;

/**
 * A server that answers as it should until it is told to break, and then sends without end: in
 * front of a real one, whose next answer it takes as a beginning.
 */
final class BrokenServer implements AutoCloseable {
  /** What it sends. */
  enum Break {
    NONE,
    /** The row of an answer again and again. */
    ENDLESS_ROWS,
    /** A row, or a packet, that is said to have a gigabyte and a half, or never ends. */
    HUGE_ROW,
    /** A byte now and then. */
    DRIP
  }

  private final ServerSocket listener;
  private final String host;
  private final int port;
  private final boolean isPostgres;
  private volatile Break broken = Break.NONE;

  BrokenServer(String host, int port, boolean isPostgres) throws IOException {
    this.host = host;
    this.port = port;
    this.isPostgres = isPostgres;
    this.listener = new ServerSocket(0, 50, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
    start(this::accept);
  }

  String address() {
    return "127.0.0.1:" + listener.getLocalPort();
  }

  void breakWith(Break how) {
    broken = how;
  }

  private static void start(Runnable task) {
    Thread thread = new Thread(task, "broken-server");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        Socket server = new Socket(host, port);
        start(() -> pump(client, server, false));
        start(() -> pump(server, client, true));
      } catch (IOException e) {
        // It is closed, or one of them has gone.
      }
    }
  }

  private void pump(Socket from, Socket to, boolean isAnswer) {
    try (from;
        to;
        DataInputStream in = new DataInputStream(new BufferedInputStream(from.getInputStream()));
        OutputStream out = new BufferedOutputStream(to.getOutputStream(), 1 << 16)) {
      if (!isAnswer) {
        copy(in, out);
      } else if (isPostgres) {
        answerAsPostgres(in, out);
      } else {
        answerAsMariaDb(in, out);
      }
    } catch (IOException e) {
      // Either side has gone.
    }
  }

  private static void copy(InputStream in, OutputStream out) throws IOException {
    byte[] buffer = new byte[1 << 13];
    int count;
    while ((count = in.read(buffer)) > 0) {
      out.write(buffer, 0, count);
      out.flush();
    }
  }

  private void answerAsPostgres(DataInputStream in, OutputStream out) throws IOException {
    while (true) {
      int type = in.readUnsignedByte();
      int length = in.readInt();
      byte[] message = message(type, length, in.readNBytes(length - 4));
      if (type == 'D' && broken != Break.NONE) {
        switch (broken) {
          case ENDLESS_ROWS -> forEver(out, message);
          case DRIP -> drip(out, message);
          default -> {
            // One column, of all that length.
            byte[] head = new byte[6];
            head[1] = 1;
            int size = 1_500_000_000;
            for (int i = 0; i < 4; i++) {
              head[2 + i] = (byte) (size >>> (24 - 8 * i));
            }
            out.write(message('D', size + 10, head));
            forEver(out, new byte[1 << 16]);
          }
        }
      }
      out.write(message);
      if (in.available() == 0) {
        out.flush();
      }
    }
  }

  private static byte[] message(int type, int length, byte[] content) {
    byte[] message = new byte[5 + content.length];
    message[0] = (byte) type;
    for (int i = 0; i < 4; i++) {
      message[1 + i] = (byte) (length >>> (24 - 8 * i));
    }
    System.arraycopy(content, 0, message, 5, content.length);
    return message;
  }

  private void answerAsMariaDb(DataInputStream in, OutputStream out) throws IOException {
    byte[] last = null;
    while (true) {
      byte[] head = in.readNBytes(4);
      if (head.length < 4) {
        return;
      }
      int length = head[0] & 0xFF | (head[1] & 0xFF) << 8 | (head[2] & 0xFF) << 16;
      byte[] packet = in.readNBytes(length);
      boolean isEnd = length > 0 && (packet[0] & 0xFF) == 0xFE && last != null;
      if (isEnd && broken != Break.NONE) {
        int sequence = head[3];
        if (broken == Break.DRIP) {
          drip(out, packet(last, sequence));
        } else if (broken == Break.HUGE_ROW) {
          byte[] full = new byte[0xFFFFFF];
          full[0] = 1;
          while (true) {
            out.write(packet(full, sequence++));
          }
        }
        while (true) {
          out.write(packet(last, sequence++));
        }
      }
      last = packet;
      out.write(packet(packet, head[3]));
      if (in.available() == 0) {
        out.flush();
      }
    }
  }

  private static byte[] packet(byte[] content, int sequence) {
    byte[] packet = new byte[4 + content.length];
    packet[0] = (byte) content.length;
    packet[1] = (byte) (content.length >>> 8);
    packet[2] = (byte) (content.length >>> 16);
    packet[3] = (byte) sequence;
    System.arraycopy(content, 0, packet, 4, content.length);
    return packet;
  }

  private static void forEver(OutputStream out, byte[] message) throws IOException {
    while (true) {
      out.write(message);
    }
  }

  /** A message, and then the beginning of the next one, byte by byte. */
  private static void drip(OutputStream out, byte[] message) throws IOException {
    while (true) {
      for (byte one : message) {
        out.write(one);
        out.flush();
        LockSupport.parkNanos(100_000_000);
      }
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
