package io.fenceline.recipes.once;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * How a result becomes bytes and comes back.
 *
 * @param <T> the result
 */
public interface Codec<T> {

  /** Returns the bytes of a result. */
  byte[] encode(T result);

  /**
   * Returns the result of bytes that {@link #encode} has made, maybe in another version of the
   * program.
   */
  T decode(byte[] bytes);

  /** Results that are bytes. */
  static Codec<byte[]> bytes() {
    return new Codec<>() {
      @Override
      public byte[] encode(byte[] result) {
        return result.clone();
      }

      @Override
      public byte[] decode(byte[] bytes) {
        return bytes.clone();
      }
    };
  }

  /** Results that are text, in UTF-8. */
  static Codec<String> text() {
    return new Codec<>() {
      @Override
      public byte[] encode(String result) {
        try {
          ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(result));
          byte[] bytes = new byte[encoded.remaining()];
          encoded.get(bytes);
          return bytes;
        } catch (CharacterCodingException e) {
          throw new IllegalArgumentException("The text has half a surrogate pair", e);
        }
      }

      @Override
      public String decode(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
      }
    };
  }
}
