package io.fenceline.testbed.proxy;

import java.io.EOFException;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * What one connection says in one protocol: cuts both streams into messages and tells which reply
 * belongs to which request.
 *
 * <p>Two threads call it, one for each direction; what they share is for the subclass to guard. A
 * conversation that turns out to be in another language (TLS, four-letter words) becomes opaque:
 * bytes that are passed on as they come.
 */
abstract class Conversation {

  static final String BYTES = "bytes";

  private volatile boolean opaque;

  /** The next message of the client, or null at the end of the stream. */
  final @Nullable FromClient nextFromClient(FrameReader in) throws IOException {
    int first = in.readByteOrEnd();
    if (first < 0) {
      return null;
    }
    try {
      if (!opaque) {
        return readFromClient(first, in);
      }
      in.readAvailable();
    } catch (EOFException e) {
      // The end amid a message: the rest goes through as it is.
    } catch (IllegalArgumentException | IndexOutOfBoundsException | BufferUnderflowException e) {
      throw new IOException("Not what this protocol's clients send", e);
    }
    byte[] bytes = in.take();
    return FromClient.request(bytes, new Frame(BYTES, text(bytes)), BYTES);
  }

  /** The next message of the server, or null at the end of the stream. */
  final @Nullable FromServer nextFromServer(FrameReader in) throws IOException {
    int first = in.readByteOrEnd();
    if (first < 0) {
      return null;
    }
    try {
      if (!opaque) {
        return readFromServer(first, in);
      }
      in.readAvailable();
    } catch (EOFException e) {
      // The end amid a message: the rest goes through as it is.
    } catch (IllegalArgumentException | IndexOutOfBoundsException | BufferUnderflowException e) {
      throw new IOException("Not what this protocol's servers send", e);
    }
    return FromServer.reply(in.take(), BYTES);
  }

  /** Reads one message of the client, whose first byte was read. */
  abstract FromClient readFromClient(int first, FrameReader in) throws IOException;

  /** Reads one message of the server, whose first byte was read. */
  abstract FromServer readFromServer(int first, FrameReader in) throws IOException;

  /** From now on, bytes are passed on as they come. */
  final void becomeOpaque() {
    opaque = true;
  }

  static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
