package io.fenceline.jdbc.connection;

import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import javax.net.SocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * Sockets on which an answer has an end: for the drivers, which make one of these by its name.
 *
 * <p>A driver keeps all that a server sends in answer to a statement, and waits for the next byte
 * with a timeout for each of them. A server that is broken, and sends without end, would exhaust
 * the heap or keep a thread for ever. Here, whatever comes between two requests may have 32 MB, and
 * twice the time that a single read may take; then the connection fails. So it does when a request
 * is made on its caller's own thread, and that is wanted back: see {@link CallersThread}.
 */
public final class BoundedSockets extends SocketFactory {
  /** A name with a hundred thousand waiters is shown in less. */
  static final long MOST_BYTES = 32L << 20;

  /** How often a caller's own thread looks whether it is wanted back while a server is silent. */
  private static final int LOOK_MILLIS = 20;

  private static final int SKIPPED_AT_ONCE = 4_096;

  /** Called by drivers. */
  public BoundedSockets() {}

  @Override
  public Socket createSocket() {
    return new Bounded();
  }

  @Override
  public Socket createSocket(String host, int port) throws IOException {
    return connected(new InetSocketAddress(host, port), null);
  }

  @Override
  public Socket createSocket(String host, int port, InetAddress localHost, int localPort)
      throws IOException {
    return connected(
        new InetSocketAddress(host, port), new InetSocketAddress(localHost, localPort));
  }

  @Override
  public Socket createSocket(InetAddress host, int port) throws IOException {
    return connected(new InetSocketAddress(host, port), null);
  }

  @Override
  public Socket createSocket(InetAddress address, int port, InetAddress localAddress, int localPort)
      throws IOException {
    return connected(
        new InetSocketAddress(address, port), new InetSocketAddress(localAddress, localPort));
  }

  private static Socket connected(InetSocketAddress to, @Nullable InetSocketAddress from)
      throws IOException {
    Socket socket = new Bounded();
    try {
      if (from != null) {
        socket.bind(from);
      }
      socket.connect(to);
      return socket;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /** One read of the socket. */
  @FunctionalInterface
  private interface Read {
    int now() throws IOException;
  }

  /** Counts from one request to the next. */
  private static final class Bounded extends Socket {
    private volatile long askedNanos = System.nanoTime();
    private volatile long received;

    /** Drivers look with a timeout of a millisecond whether something is there. */
    private volatile int longestTimeout;

    @Override
    public synchronized void setSoTimeout(int timeout) throws SocketException {
      super.setSoTimeout(timeout);
      longestTimeout = Math.max(longestTimeout, timeout);
    }

    @Override
    public InputStream getInputStream() throws IOException {
      return new FilterInputStream(super.getInputStream()) {
        @Override
        public int read() throws IOException {
          int one = answered(in::read);
          count(one < 0 ? 0 : 1);
          return one;
        }

        @Override
        public int read(byte[] buffer, int offset, int length) throws IOException {
          int count = answered(() -> in.read(buffer, offset, length));
          count(count);
          return count;
        }

        /** By reading, which looks whether a caller's thread is wanted back. */
        @Override
        public long skip(long length) throws IOException {
          byte[] some = new byte[(int) Math.max(0, Math.min(length, SKIPPED_AT_ONCE))];
          long skipped = 0;
          int count;
          do {
            count = read(some, 0, (int) Math.min(some.length, length - skipped));
            skipped += Math.max(0, count);
          } while (count > 0 && skipped < length);
          return skipped;
        }
      };
    }

    /** Reads; on a caller's own thread, only for as long as that is not wanted back. */
    private int answered(Read read) throws IOException {
      CallersThread caller = CallersThread.kept();
      if (caller == null) {
        return read.now();
      }
      int most = getSoTimeout();
      long began = System.nanoTime();
      try {
        while (true) {
          if (caller.leftNanos() <= 0) {
            throw notWaitedFor(); // Also if the server sends a little now and then.
          }
          int left = most - (int) ((System.nanoTime() - began) / 1_000_000);
          super.setSoTimeout(most == 0 ? LOOK_MILLIS : Math.max(1, Math.min(LOOK_MILLIS, left)));
          try {
            return read.now();
          } catch (SocketTimeoutException e) {
            if (caller.isWantedBack()) {
              throw notWaitedFor();
            }
            if (most > 0 && left <= LOOK_MILLIS) {
              throw e;
            }
          }
        }
      } finally {
        if (!isClosed()) {
          super.setSoTimeout(most);
        }
      }
    }

    private static SocketTimeoutException notWaitedFor() {
      return new SocketTimeoutException("the caller did not wait for the answer any longer");
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
      return new FilterOutputStream(super.getOutputStream()) {
        @Override
        public void write(int one) throws IOException {
          asked();
          out.write(one);
        }

        @Override
        public void write(byte[] buffer, int offset, int length) throws IOException {
          asked();
          out.write(buffer, offset, length);
        }
      };
    }

    private void asked() {
      received = 0;
      askedNanos = System.nanoTime();
    }

    // One thread reads at a time.
    @SuppressWarnings("NonAtomicVolatileUpdate")
    private void count(long bytes) throws IOException {
      if (bytes <= 0) {
        return;
      }
      received += bytes;
      if (received > MOST_BYTES) {
        throw new IOException(
            "the server's answer has more than %d MB, and was not read to its end"
                .formatted(MOST_BYTES >> 20));
      }
      long most = 2L * longestTimeout;
      if (most > 0 && System.nanoTime() - askedNanos > most * 1_000_000) {
        throw new SocketTimeoutException(
            "the server's answer has not ended after %d ms".formatted(most));
      }
    }
  }
}
