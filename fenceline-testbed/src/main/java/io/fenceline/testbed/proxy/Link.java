package io.fenceline.testbed.proxy;

import io.fenceline.testbed.proxy.Fault.Effect;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A client's connection and ours to the server.
 *
 * <p>Four threads: a reader and an {@link Outlet} for each direction, so that a delayed message
 * delays those behind it by no more than the same time.
 */
final class Link {

  private static final int CONNECT_TIMEOUT_MILLIS = 5_000;

  private final FaultProxy proxy;
  private final Faults faults;
  private final Conversation conversation;
  private final Pending pending = new Pending();
  private final Socket client;
  private final Socket server = new Socket();
  private final Outlet toServer;
  private final Outlet toClient;
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicInteger ends = new AtomicInteger();
  private final Map<Fault, Boolean> concerns = new ConcurrentHashMap<>();
  private boolean closed;

  Link(FaultProxy proxy, Faults faults, Conversation conversation, Socket client) {
    this.proxy = proxy;
    this.faults = faults;
    this.conversation = conversation;
    this.client = client;
    this.toServer = new Outlet(this, Direction.TO_SERVER, server, faults);
    this.toClient = new Outlet(this, Direction.TO_CLIENT, client, faults);
  }

  /** Connects to the server and starts to pass messages on; does not wait for either. */
  void open(InetSocketAddress target) {
    start("client-reader", () -> connect(target));
  }

  private void connect(InetSocketAddress target) {
    try {
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
      server.connect(target, CONNECT_TIMEOUT_MILLIS);
    } catch (IOException e) {
      reset(); // no server: the client shall see a broken connection
      return;
    }
    start("server-writer", toServer);
    start("server-reader", this::readFromServer);
    start("client-writer", toClient);
    readFromClient();
  }

  private synchronized void start(String role, Runnable task) {
    if (closed) {
      return;
    }
    Thread thread = proxy.newThread(role, task);
    threads.add(thread);
    thread.start();
  }

  private void readFromClient() {
    try {
      toServer.putEnd(passOnFromClient());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // closed
    } catch (RuntimeException e) {
      reset(); // a trigger of the test threw: let neither side wait for the other
      throw e;
    }
  }

  private Outlet.End passOnFromClient() throws InterruptedException {
    try {
      FrameReader in = new FrameReader(client.getInputStream());
      for (FromClient next = conversation.nextFromClient(in);
          next != null;
          next = conversation.nextFromClient(in)) {
        proxy.record(next.kind());
        if (next.request() != null && isCut(next.request())) {
          reset(); // and interrupts this thread: nothing more goes out
          return Outlet.End.BROKEN;
        }
        // Before the request goes out: its reply must find this.
        if (next.request() != null && next.replyKey() != null) {
          pending.add(next.replyKey(), replyFaults(next.request()));
        }
        List<Fault> holds =
            next.request() == null
                ? List.of()
                : faults.triggered(next.request(), Effect.HOLD_REQUEST);
        toServer.put(next.bytes(), null, holds);
      }
      return Outlet.End.CLOSED;
    } catch (IOException e) {
      return Outlet.End.BROKEN;
    }
  }

  private boolean isCut(Frame request) {
    List<Fault> cuts = faults.triggered(request, Effect.CUT_REQUEST);
    cuts.forEach(Fault::apply);
    return !cuts.isEmpty();
  }

  private List<Fault> replyFaults(Frame request) {
    return faults.triggered(
        request,
        Effect.HOLD_REPLY,
        Effect.CUT_BEFORE_REPLY,
        Effect.CLOSE_BEFORE_REPLY,
        Effect.DROP_REPLY);
  }

  private void readFromServer() {
    try {
      toClient.putEnd(passOnFromServer());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // closed
    }
  }

  private Outlet.End passOnFromServer() throws InterruptedException {
    try {
      FrameReader in = new FrameReader(server.getInputStream());
      for (FromServer next = conversation.nextFromServer(in);
          next != null;
          next = conversation.nextFromServer(in)) {
        List<Fault> replyFaults =
            next.replyKey() == null ? List.of() : pending.take(next.replyKey());
        toClient.put(next.bytes(), next.push(), replyFaults);
      }
      return Outlet.End.CLOSED;
    } catch (IOException e) {
      return Outlet.End.BROKEN;
    }
  }

  /** One direction came to its end; with the second one, the connection is over. */
  void ended() {
    if (ends.incrementAndGet() == 2) {
      close(false);
    }
  }

  /** Whether a fault is for this client; asked once for each, since the answer may cost. */
  boolean isConcernedBy(Fault fault) {
    return concerns.computeIfAbsent(
        fault, asked -> asked.isOf((InetSocketAddress) client.getRemoteSocketAddress()));
  }

  boolean isSwallowedBy(Fault fault) {
    return toServer.isSwallowedBy(fault) || toClient.isSwallowedBy(fault);
  }

  /** Closes both connections so that the other sides see a reset. */
  void reset() {
    close(true);
  }

  /** Closes both connections in order. */
  void closeInOrder() {
    close(false);
  }

  synchronized boolean isClosed() {
    return closed;
  }

  private synchronized void close(boolean abruptly) {
    if (closed) {
      return;
    }
    closed = true;
    for (Socket socket : List.of(client, server)) {
      try {
        if (abruptly) {
          socket.setSoLinger(true, 0);
        }
      } catch (IOException e) {
        // Closed already.
      }
      try {
        socket.close();
      } catch (IOException e) {
        // It is closed all the same.
      }
    }
    threads.forEach(Thread::interrupt);
    proxy.forget(this);
  }
}
