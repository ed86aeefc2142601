package io.fenceline.etcd;

import com.google.common.util.concurrent.MoreExecutors;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;

/**
 * Has answers handled by the thread of Netty that has read them, instead of one of gRPC's pool.
 *
 * <p>Handing them over to another thread costs as much as a quarter of the request. What is done
 * with an answer here is short, never waits, and never is a user's: the runtime has threads of its
 * own for that.
 */
final class DirectAnswerInterceptor implements ClientInterceptor {
  @Override
  public <Q, A> ClientCall<Q, A> interceptCall(
      MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
    return next.newCall(method, options.withExecutor(MoreExecutors.directExecutor()));
  }
}
