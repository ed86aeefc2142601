package io.fenceline.etcd;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.MethodDescriptor;

/**
 * Has a watch that is closed end at the server, too.
 *
 * <p>Before 0.8.6, jetcd only says that it sends no more, and the server keeps the stream as long
 * as the connection lasts.
 */
final class WatchCancelInterceptor implements ClientInterceptor {
  private static final String WATCH = "etcdserverpb.Watch/Watch";

  @Override
  public <Q, A> ClientCall<Q, A> interceptCall(
      MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
    ClientCall<Q, A> call = next.newCall(method, options);
    if (!method.getFullMethodName().equals(WATCH)) {
      return call;
    }
    return new SimpleForwardingClientCall<>(call) {
      @Override
      public void halfClose() {
        cancel("the watch is closed", null);
      }
    };
  }
}
