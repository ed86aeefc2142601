package io.fenceline.redis.layout;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.CommandArgs;

/**
 * A call of a script.
 *
 * @param script which one
 * @param keys its keys, all of one bucket where the server is part of a Cluster
 * @param args its other arguments; the owner among them is a secret
 */
@SuppressWarnings("ArrayRecordComponent") // Made for one command, never compared.
public record Call(Script script, byte[][] keys, byte[]... args) {

  public CommandArgs<byte[], byte[]> byHash() {
    return arguments(script.hash());
  }

  public CommandArgs<byte[], byte[]> byBody() {
    return arguments(script.body());
  }

  private CommandArgs<byte[], byte[]> arguments(byte[] which) {
    CommandArgs<byte[], byte[]> all = new CommandArgs<>(ByteArrayCodec.INSTANCE);
    all.add(which).add(keys.length).addKeys(keys);
    for (byte[] arg : args) {
      all.add(arg);
    }
    return all;
  }

  @Override
  public String toString() {
    return script.toString();
  }
}
