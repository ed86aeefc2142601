package io.fenceline.etcd;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.MethodDescriptor;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;

/**
 * Keeps one request back inside the client until the test delivers it: a request that arrives after
 * its sender has given it up.
 */
final class HeldRequest implements ClientInterceptor {
  private final AtomicReference<Predicate<String>> armed = new AtomicReference<>();
  private final CompletableFuture<Runnable> caught = new CompletableFuture<>();

  /** Catches the next request whose text matches. */
  void catchNext(Predicate<String> matching) {
    armed.set(matching);
  }

  boolean isCaught() {
    return caught.isDone();
  }

  /** Sends it after all. */
  void deliver() {
    caught.join().run();
  }

  @Override
  public <Q, A> ClientCall<Q, A> interceptCall(
      MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
    return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
      private boolean held;

      @Override
      public void sendMessage(Q message) {
        Predicate<String> matching = armed.get();
        if (matching != null
            && matching.test(method.getBareMethodName() + " " + message)
            && armed.compareAndSet(matching, null)) {
          held = true;
          caught.complete(
              () -> {
                super.sendMessage(message);
                super.halfClose();
              });
        } else {
          super.sendMessage(message);
        }
      }

      @Override
      public void halfClose() {
        if (!held) {
          super.halfClose();
        }
      }
    };
  }
}
