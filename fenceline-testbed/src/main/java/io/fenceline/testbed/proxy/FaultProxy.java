package io.fenceline.testbed.proxy;

import io.fenceline.testbed.proxy.Fault.Effect;
import io.fenceline.testkit.harness.SlowNetwork;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;

/**
 * A TCP proxy on the loopback interface that breaks connections on demand.
 *
 * <pre>{@code
 * try (FaultProxy proxy = FaultProxy.to(redis.host(), redis.port(), Protocol.RESP)) {
 *   Fault lost = proxy.dropReply(Trigger.first(request -> request.is("EVALSHA")));
 *   // A client of proxy.port() acquires a lock, and does not learn of it.
 *   assertThat(lost.timesApplied()).isEqualTo(1);
 * }
 * }</pre>
 *
 * <p>Faults add up; each lasts until it is {@linkplain Fault#lift lifted}. The proxy never shows a
 * client what TCP could not: bytes of one direction stay in order, and where some were lost, none
 * follow. Thread-safe.
 */
public final class FaultProxy implements SlowNetwork {

  private static final long JOIN_MILLIS = 2_000;

  private final InetSocketAddress target;
  private final Protocol protocol;
  private final ServerSocket listener;
  private final Thread acceptor;
  private final Faults faults = new Faults();
  private final Set<Link> links = ConcurrentHashMap.newKeySet();
  private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
  private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();
  private final AtomicLong accepted = new AtomicLong();

  private FaultProxy(InetSocketAddress target, Protocol protocol, int lastByte) throws IOException {
    this.target = target;
    this.protocol = protocol;
    this.listener =
        new ServerSocket(0, 0, InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) lastByte}));
    this.acceptor = newThread("acceptor", this::accept);
  }

  /** Opens a proxy in front of a server, which need not run yet. */
  public static FaultProxy to(String host, int port, Protocol protocol) {
    return to(host, port, protocol, 1);
  }

  /** As above, at an address of this machine that no certificate of ours names: 127.0.0.2. */
  public static FaultProxy atAnotherAddress(String host, int port, Protocol protocol) {
    return to(host, port, protocol, 2);
  }

  private static FaultProxy to(String host, int port, Protocol protocol, int lastByte) {
    try {
      FaultProxy proxy = new FaultProxy(new InetSocketAddress(host, port), protocol, lastByte);
      proxy.acceptor.start();
      return proxy;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public String host() {
    return listener.getInetAddress().getHostAddress();
  }

  /** The port for clients; the same until the proxy is closed. */
  public int port() {
    return listener.getLocalPort();
  }

  /** The address for clients as {@code host:port}. */
  public String address() {
    return host() + ":" + port();
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        accepted.incrementAndGet();
        open(client);
      } catch (IOException e) {
        // The listener is closed, or the client has gone again before we saw it.
      }
    }
  }

  private void open(Socket client) {
    Link link = new Link(this, faults, protocol.newConversation(), client);
    Fault refusal = faults.find(Effect.REFUSE, Direction.TO_SERVER);
    if (refusal != null) {
      refusal.apply();
      link.reset();
      return;
    }
    links.add(link);
    if (listener.isClosed()) {
      link.reset(); // close() may have missed it
      return;
    }
    link.open(target);
  }

  /** Delivers everything in that direction so much later; order and throughput stay. */
  public Fault delay(Direction direction, Duration delay) {
    return add(Fault.onTheWay(this, Effect.DELAY, direction, delay));
  }

  /** Keeps back everything in that direction, and delivers it when the fault is lifted. */
  public Fault stall(Direction direction) {
    return add(Fault.onTheWay(this, Effect.STALL, direction, Duration.ZERO));
  }

  /**
   * Swallows everything in that direction, the closing of a connection too; connections stay open
   * and new ones can be made. When it is lifted, those that lost something are reset.
   */
  public Fault blackHole(Direction direction) {
    return add(Fault.onTheWay(this, Effect.BLACK_HOLE, direction, Duration.ZERO));
  }

  /**
   * As {@link #blackHole(Direction)}, for the connections of some clients only.
   *
   * @param clients tells by the address that a connection comes from whether it is swallowed
   */
  public Fault blackHole(Direction direction, Predicate<? super InetSocketAddress> clients) {
    return add(Fault.onTheWayOf(this, Effect.BLACK_HOLE, direction, clients));
  }

  /**
   * Keeps back the request, and all that follows it on its connection, until the fault is lifted:
   * it arrives late, even if the client has given the connection up since.
   */
  public Fault holdRequest(Trigger trigger) {
    return add(Fault.onTrigger(this, Effect.HOLD_REQUEST, trigger));
  }

  /** Resets the connection instead of passing the request on: the server never sees it. */
  public Fault cutRequest(Trigger trigger) {
    return add(Fault.onTrigger(this, Effect.CUT_REQUEST, trigger));
  }

  /**
   * Resets the connection when the reply to the request arrives here: the server has acted, and the
   * client sees a broken connection.
   */
  public Fault cutBeforeReply(Trigger trigger) {
    return add(Fault.onTrigger(this, Effect.CUT_BEFORE_REPLY, trigger));
  }

  /**
   * As {@link #cutBeforeReply}, but the connection is closed in order, as by a server that ends:
   * some drivers send again then what they do not send again after a reset.
   */
  public Fault closeBeforeReply(Trigger trigger) {
    return add(Fault.onTrigger(this, Effect.CLOSE_BEFORE_REPLY, trigger));
  }

  /**
   * Loses the reply to the request, and all that would follow it on this connection, which stays
   * open: the server has acted, and the client hears nothing. Reset when the fault is lifted.
   */
  public Fault dropReply(Trigger trigger) {
    return add(Fault.onTrigger(this, Effect.DROP_REPLY, trigger));
  }

  /** Keeps back the reply to the request, and all that follows it, until the fault is lifted. */
  public Fault holdReply(Trigger trigger) {
    return add(Fault.onTrigger(this, Effect.HOLD_REPLY, trigger));
  }

  @Override
  public Fault holdReply(int request) {
    return holdReply(Trigger.nth(request, any -> true));
  }

  @Override
  public Fault holdReplies() {
    return stall(Direction.TO_CLIENT);
  }

  /**
   * Loses messages that the server sends unasked (publications of Redis, watch events of ZooKeeper,
   * notifications of PostgreSQL); all else goes on.
   */
  public Fault dropPush(Predicate<? super Frame> matching) {
    return add(Fault.onTrigger(this, Effect.DROP_PUSH, Trigger.every(matching)));
  }

  /** Resets every new connection at once; those that exist go on. */
  public Fault refuseConnections() {
    return add(Fault.onTheWay(this, Effect.REFUSE, Direction.BOTH, Duration.ZERO));
  }

  private Fault add(Fault fault) {
    faults.add(fault);
    return fault;
  }

  void lift(Fault fault) {
    faults.remove(fault);
    links.stream().filter(link -> link.isSwallowedBy(fault)).forEach(Link::reset);
  }

  /** Lifts all faults. */
  @Override
  public void heal() {
    faults.all().forEach(Fault::lift);
  }

  /** Resets all connections that there are, and returns how many. */
  public int closeAll() {
    int closed = 0;
    for (Link link : links) {
      link.reset();
      closed++;
    }
    return closed;
  }

  /** How many connections are open now. */
  public int connections() {
    return links.size();
  }

  /** How many connections were made so far, refused ones included. */
  public long connectionsAccepted() {
    return accepted.get();
  }

  /** How many messages clients sent, by kind: see {@link Protocol}. */
  public Map<String, Long> counts() {
    Map<String, Long> snapshot = new TreeMap<>();
    counts.forEach((kind, count) -> snapshot.put(kind, count.sum()));
    return snapshot;
  }

  /** How many messages of a kind clients sent; see {@link #counts()}. */
  public long count(String kind) {
    return counts().getOrDefault(kind, 0L);
  }

  /** Starts counting messages from zero. */
  public void resetCounts() {
    counts.clear();
  }

  void record(String kind) {
    counts.computeIfAbsent(kind, unseen -> new LongAdder()).increment();
  }

  /** A thread that {@link #close} waits for. */
  Thread newThread(String role, Runnable task) {
    threads.removeIf(thread -> thread.getState() == Thread.State.TERMINATED);
    Thread thread = new Thread(task, "fault-proxy-" + port() + "-" + role);
    thread.setDaemon(true);
    threads.add(thread);
    return thread;
  }

  void forget(Link link) {
    links.remove(link);
  }

  /** Resets all connections and closes the port. */
  @Override
  public void close() {
    try {
      listener.close();
      acceptor.join(JOIN_MILLIS); // so that no connection comes after the last was closed
      closeAll();
      for (Thread thread : threads) {
        thread.join(JOIN_MILLIS);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public String toString() {
    return "proxy " + address() + " to " + target + " (" + faults.all() + ")";
  }
}
