package io.fenceline.redis.fence;

import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.output.CommandOutput;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Another output, which also tells when a Cluster's driver follows a redirection. */
final class RedirectedOutput<K, V, T> extends CommandOutput<K, V, T> {
  private final CommandOutput<K, V, T> actual;
  private final Runnable redirected;

  @SuppressWarnings("NullAway") // The driver's outputs start with null, too.
  RedirectedOutput(RedisCodec<K, V> codec, CommandOutput<K, V, T> actual, Runnable redirected) {
    super(codec, null);
    this.actual = actual;
    this.redirected = redirected;
  }

  /** The driver clears the error, with null, before it asks the other node. */
  @Override
  public void setError(@Nullable String error) {
    if (error == null) {
      redirected.run();
    }
    actual.setError(error);
  }

  @Override
  public T get() {
    return actual.get();
  }

  @Override
  public void set(ByteBuffer bytes) {
    actual.set(bytes);
  }

  @Override
  public void setSingle(ByteBuffer bytes) {
    actual.setSingle(bytes);
  }

  @Override
  public void setBigNumber(ByteBuffer bytes) {
    actual.setBigNumber(bytes);
  }

  @Override
  public void set(long integer) {
    actual.set(integer);
  }

  @Override
  public void set(double number) {
    actual.set(number);
  }

  @Override
  public void set(boolean value) {
    actual.set(value);
  }

  @Override
  public void setError(ByteBuffer error) {
    actual.setError(error);
  }

  @Override
  public boolean hasError() {
    return actual.hasError();
  }

  @Override
  public String getError() {
    return actual.getError();
  }

  @Override
  public void complete(int depth) {
    actual.complete(depth);
  }

  @Override
  public void multi(int count) {
    actual.multi(count);
  }

  @Override
  public void multiArray(int count) {
    actual.multiArray(count);
  }

  @Override
  public void multiPush(int count) {
    actual.multiPush(count);
  }

  @Override
  public void multiMap(int count) {
    actual.multiMap(count);
  }

  @Override
  public void multiSet(int count) {
    actual.multiSet(count);
  }

  @Override
  public String toString() {
    return actual.toString();
  }
}
