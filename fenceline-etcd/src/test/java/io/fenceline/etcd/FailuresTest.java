package io.fenceline.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.fenceline.StoreUnavailableException;
import io.grpc.Status;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import org.junit.jupiter.api.Test;

/** What gRPC says of a connection that ends differs by the moment at which it ends. */
class FailuresTest {
  @Test
  void closedConnection_isNamedTheSame_howeverItIsReported() {
    for (Status status :
        new Status[] {
          Status.UNKNOWN.withDescription("channel closed").withCause(new ClosedChannelException()),
          Status.UNAVAILABLE.withDescription("Network closed for unknown reason"),
          Status.UNAVAILABLE
              .withDescription("io exception")
              .withCause(new IOException("Connection reset by peer"))
        }) {
      assertThat(Failures.of("etcd://HOST", status.asRuntimeException()))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("the server closed the connection; check that it runs");
    }
  }
}
