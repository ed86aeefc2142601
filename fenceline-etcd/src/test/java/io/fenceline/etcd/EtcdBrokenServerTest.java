package io.fenceline.etcd;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.Fenceline;
import io.fenceline.StoreUnavailableException;
import io.grpc.HandlerRegistry;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerMethodDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server that answers whatever is asked with too much, or with nonsense. */
@SuppressWarnings("MustBeClosedChecker") // what should not connect needs no closing
class EtcdBrokenServerTest {
  private static final int MEGABYTE = 1 << 20;

  /** Takes any message for bytes. */
  private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Answers every request with these bytes. */
  private static Server server(byte[] answer) throws IOException {
    HandlerRegistry all =
        new HandlerRegistry() {
          @Override
          public ServerMethodDefinition<?, ?> lookupMethod(String name, String authority) {
            MethodDescriptor<byte[], byte[]> method =
                MethodDescriptor.newBuilder(new Bytes(), new Bytes())
                    .setType(MethodDescriptor.MethodType.UNARY)
                    .setFullMethodName(name)
                    .build();
            return ServerMethodDefinition.create(
                method,
                ServerCalls.asyncUnaryCall(
                    (request, heard) -> {
                      heard.onNext(answer);
                      heard.onCompleted();
                    }));
          }
        };
    return NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
        .fallbackHandlerRegistry(all)
        .build()
        .start();
  }

  private static void connect(Server server) {
    Fenceline.builder()
        .store("etcd://127.0.0.1:" + server.getPort())
        .connectTimeout(Duration.ofSeconds(20))
        .connect()
        .close();
  }

  @Test
  void anAnswerThatIsTooLong_isRefusedByItsLength() throws Exception {
    Server server = server(new byte[64 * MEGABYTE]);
    try {
      assertThatThrownBy(() -> connect(server))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("gRPC message exceeds maximum size 33554432: 67108864");
    } finally {
      server.shutdownNow();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 1_000})
  void anAnswerThatIsNonsense_isAFailure(int length) throws Exception {
    byte[] nonsense = new byte[length];
    java.util.Arrays.fill(nonsense, (byte) 0xff);
    Server server = server(nonsense);
    try {
      assertThatThrownBy(() -> connect(server)).isInstanceOf(StoreUnavailableException.class);
    } finally {
      server.shutdownNow();
    }
  }
}
