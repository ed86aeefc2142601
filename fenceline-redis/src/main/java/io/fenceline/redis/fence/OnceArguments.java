package io.fenceline.redis.fence;

import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.netty.buffer.ByteBuf;
import java.util.function.Supplier;

/**
 * Arguments of a script that are written to a connection once.
 *
 * <p>A driver that reconnects sends again what was not answered, though it may have been done. The
 * second time it finds other arguments here, as many, with which the command does nothing.
 */
final class OnceArguments<K, V> extends CommandArgs<K, V> {
  private final Supplier<CommandArgs<K, V>> harmless;
  private volatile boolean written;
  private volatile boolean repeated;

  /**
   * No arguments yet.
   *
   * @param harmless what is written instead of a repeat
   */
  OnceArguments(RedisCodec<K, V> codec, Supplier<CommandArgs<K, V>> harmless) {
    super(codec);
    this.harmless = harmless;
  }

  /** Called by the driver's thread, each time that it writes the command. */
  @Override
  public void encode(ByteBuf out) {
    if (written) {
      repeated = true;
      harmless.get().encode(out);
    } else {
      written = true;
      super.encode(out);
    }
  }

  /** A node has answered that another one is to be asked: nothing was done. */
  void redirected() {
    written = false;
  }

  /** Whether the command may have reached a server that did not send it on. */
  boolean wasWritten() {
    return written;
  }

  /** Whether the command was sent again, so that it is not known what became of it. */
  boolean wasRepeated() {
    return repeated;
  }
}
