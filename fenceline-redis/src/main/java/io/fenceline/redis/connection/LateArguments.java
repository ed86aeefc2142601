package io.fenceline.redis.connection;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of a script that are asked for when the command is written, which the driver's
 * thread does.
 */
final class LateArguments extends CommandArgs<byte[], byte[]> {
  private final ScriptConnection.Late late;
  private @Nullable CommandArgs<byte[], byte[]> known;

  LateArguments(ScriptConnection.Late late) {
    super(ByteArrayCodec.INSTANCE);
    this.late = late;
  }

  private CommandArgs<byte[], byte[]> known() {
    CommandArgs<byte[], byte[]> arguments = known;
    if (arguments == null) {
      arguments = late.call().byHash();
      known = arguments;
    }
    return arguments;
  }

  /** Written before the arguments themselves. */
  @Override
  public int count() {
    return known().count();
  }

  @Override
  public void encode(ByteBuf out) {
    known().encode(out);
  }

  /** For people; the arguments are not for them, since the owner is among them. */
  @Override
  public String toCommandString() {
    return "";
  }

  @Override
  public String toString() {
    return getClass().getSimpleName();
  }
}
