package io.fenceline.redis.connection;

import io.lettuce.core.RedisException;
import io.lettuce.core.protocol.CommandHandler;
import io.lettuce.core.pubsub.PubSubCommandHandler;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * Ends a connection whose server sends more than any answer that we ask for can have.
 *
 * <p>The driver keeps what it has read until an answer is complete, however long it gets, and makes
 * room for as many values as a list is said to have. So a broken server, or something else that
 * answers at its address, would exhaust the memory of the application.
 */
final class ReplyLimit extends ChannelDuplexHandler {
  /** The longest answer is the inspection of a name: some 200 bytes for each of its waiters. */
  static final int MOST_BYTES = 16 << 20;

  /** In one answer; eight for each waiter. */
  static final int MOST_VALUES = 1 << 19;

  private static final int LONGEST_LINE = 64 << 10;
  private static final int MOST_UNASKED = 64 << 10;
  private static final String SCALARS = "+-:,#_(";
  private static final String TEXTS = "$=!";
  private static final String LISTS = "*~>%|";

  private final boolean hearsMessages;
  private boolean ended;
  private long owed;
  private long unasked;

  // The answer that is being read.
  private long left = 1;
  private long values;
  private long bytes;
  private boolean pushed;

  // The value in it that is being read.
  private int type;
  private int line;
  private long number;
  private boolean negative;
  private long toSkip;

  private ReplyLimit(boolean hearsMessages) {
    this.hearsMessages = hearsMessages;
  }

  /** Puts a limit into each new connection, after what another customizer does. */
  static NettyCustomizer after(NettyCustomizer other) {
    return new NettyCustomizer() {
      @Override
      public void afterBootstrapInitialized(io.netty.bootstrap.Bootstrap bootstrap) {
        other.afterBootstrapInitialized(bootstrap);
      }

      @Override
      public void afterChannelInitialized(Channel channel) {
        other.afterChannelInitialized(channel);
        ChannelHandlerContext reader = channel.pipeline().context(CommandHandler.class);
        if (reader != null) {
          boolean messages = channel.pipeline().get(PubSubCommandHandler.class) != null;
          channel.pipeline().addBefore(reader.name(), "fenceline-limit", new ReplyLimit(messages));
        }
      }
    };
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
    owed += message instanceof Collection<?> several ? several.size() : 1;
    ctx.write(message, promise);
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (!(message instanceof ByteBuf read)) {
      ctx.fireChannelRead(message);
      return;
    }
    String wrong = ended ? "" : examine(read);
    if (wrong == null) {
      ctx.fireChannelRead(message);
      return;
    }
    read.release();
    if (!ended) {
      ended = true;
      ctx.fireExceptionCaught(
          new RedisException("The server sent " + wrong + "; the connection was closed"));
      ctx.close();
    }
  }

  /** Reads on; says what is wrong, or null. */
  private @Nullable String examine(ByteBuf read) {
    int at = read.readerIndex();
    int end = read.writerIndex();
    String wrong = null;
    while (at < end && wrong == null) {
      if (toSkip > 0) {
        int some = (int) Math.min(toSkip, end - at);
        at += some;
        bytes += some;
        toSkip -= some;
        if (toSkip == 0) {
          wrong = valueEnded();
        }
      } else {
        bytes++;
        wrong = next(read.getByte(at++));
      }
      if (bytes > MOST_BYTES) {
        wrong = "an answer of more than " + MOST_BYTES + " bytes";
      }
    }
    return wrong;
  }

  private @Nullable String next(byte next) {
    if (type == 0) {
      if ((SCALARS + TEXTS + LISTS).indexOf(next) < 0) {
        return "something that is not an answer of Redis";
      }
      type = next;
      line = 0;
      number = 0;
      negative = false;
      return null;
    }
    if (next == '\n') {
      return lineEnded();
    }
    if (++line > LONGEST_LINE) {
      return "a line of more than " + LONGEST_LINE + " bytes";
    }
    if (SCALARS.indexOf(type) < 0) {
      if (next >= '0' && next <= '9') {
        number = Math.min(number * 10 + next - '0', Integer.MAX_VALUE);
      } else if (next == '-') {
        negative = true;
      } else if (next != '\r') {
        return "something that is not an answer of Redis";
      }
    }
    return null;
  }

  private @Nullable String lineEnded() {
    int ended = type;
    type = 0;
    if (TEXTS.indexOf(ended) >= 0 && !negative) {
      toSkip = number + 2; // With the end of the line.
      return bytes + toSkip > MOST_BYTES ? "an answer of more than " + MOST_BYTES + " bytes" : null;
    }
    if (LISTS.indexOf(ended) >= 0 && !negative) {
      pushed |= ended == '>' && left == 1;
      long more = ended == '%' || ended == '|' ? 2 * number : number;
      values += more;
      left += ended == '|' ? more + 1 : more; // An attribute comes before the value.
      if (values > MOST_VALUES) {
        return "an answer of more than " + MOST_VALUES + " values";
      }
    }
    return valueEnded();
  }

  private @Nullable String valueEnded() {
    if (--left > 0) {
      return null;
    }
    if (!pushed && owed > 0) {
      owed--;
    } else if (!pushed && !hearsMessages) {
      unasked += bytes;
    }
    left = 1;
    values = 0;
    bytes = 0;
    pushed = false;
    return unasked > MOST_UNASKED ? "answers that nobody asked for" : null;
  }
}
