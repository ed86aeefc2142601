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
 * twice the time that a single read may take; then the connection fails.
 */
public final class BoundedSockets extends SocketFactory {
  /** A name with a hundred thousand waiters is shown in less. */
  static final long MOST_BYTES = 32L << 20;

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
          int one = in.read();
          count(one < 0 ? 0 : 1);
          return one;
        }

        @Override
        public int read(byte[] buffer, int offset, int length) throws IOException {
          int count = in.read(buffer, offset, length);
          count(count);
          return count;
        }

        @Override
        public long skip(long length) throws IOException {
          long count = in.skip(length);
          count(count);
          return count;
        }
      };
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
