package io.fenceline.testbed.proxy;

import io.fenceline.testbed.proxy.Fault.Effect;
import java.io.IOException;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One direction of a connection, behind its reader: delivers messages when their time has come, or
 * does to them what the faults say. In order, always: what is held holds up all that follows, as
 * TCP does.
 */
final class Outlet implements Runnable {

  /** A full queue stops the reader, and with it, in the end, the sender. */
  private static final int QUEUED_MESSAGES = 1_024;

  enum End {
    /** There is more to come. */
    NONE,
    /** The sender closed its side. */
    CLOSED,
    /** The sender's side broke. */
    BROKEN
  }

  /**
   * A message, or the end of the stream.
   *
   * @param push the message itself if the server sent it unasked
   * @param faults that this request triggered, or the one that this replies to
   */
  @SuppressWarnings("ArrayRecordComponent") // passed on, never compared
  record Message(byte[] bytes, long dueNanos, @Nullable Frame push, List<Fault> faults, End end) {}

  private final BlockingQueue<Message> queue = new ArrayBlockingQueue<>(QUEUED_MESSAGES);
  private final Link link;
  private final Direction way;
  private final Socket target;
  private final Faults faults;
  private volatile @Nullable Fault swallowing;
  private boolean targetGone;

  Outlet(Link link, Direction way, Socket target, Faults faults) {
    this.link = link;
    this.way = way;
    this.target = target;
    this.faults = faults;
  }

  /** Takes a message of the reader; waits while too many are queued. */
  void put(byte[] bytes, @Nullable Frame push, List<Fault> replyFaults)
      throws InterruptedException {
    queue.put(new Message(bytes, due(), push, replyFaults, End.NONE));
  }

  void putEnd(End end) throws InterruptedException {
    queue.put(new Message(new byte[0], due(), null, List.of(), end));
  }

  private long due() {
    return System.nanoTime() + faults.applyDelays(way);
  }

  /** Whether bytes were lost here because of that fault, so that the stream cannot go on. */
  boolean isSwallowedBy(Fault fault) {
    return swallowing == fault;
  }

  @Override
  public void run() {
    try {
      Message message;
      do {
        message = queue.take();
        deliver(message);
      } while (message.end == End.NONE);
      link.ended();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the link is closed
    } catch (RuntimeException e) {
      link.reset(); // a predicate of the test threw: let neither side wait for the other
      throw e;
    }
  }

  private void deliver(Message message) throws InterruptedException {
    awaitDue(message.dueNanos);
    faults.awaitFlow(way);
    for (Fault fault : message.faults) {
      if (!fault.isLifted()) {
        strike(fault);
      }
    }
    if (message.push != null && isDropped(message.push)) {
      return;
    }
    if (swallowing == null) {
      swallowing = faults.blackHole(way, link::isConcernedBy);
    }
    Fault hole = swallowing;
    if (hole != null) {
      hole.apply();
    } else if (!targetGone && !link.isClosed()) {
      write(message);
    }
  }

  private boolean isDropped(Frame push) {
    List<Fault> dropping = faults.triggered(push, Effect.DROP_PUSH);
    dropping.forEach(Fault::apply);
    return !dropping.isEmpty();
  }

  private void strike(Fault fault) throws InterruptedException {
    switch (fault.effect()) {
      case HOLD_REQUEST, HOLD_REPLY -> {
        fault.apply();
        faults.awaitLifted(fault);
      }
      case CUT_BEFORE_REPLY -> {
        fault.apply();
        link.reset(); // and interrupts this thread
      }
      case CLOSE_BEFORE_REPLY -> {
        fault.apply();
        link.closeInOrder(); // and interrupts this thread
      }
      case DROP_REPLY -> {
        if (swallowing == null) {
          swallowing = fault; // counts when the message is swallowed
        }
      }
      default -> throw new AssertionError(fault);
    }
  }

  private void write(Message message) {
    try {
      switch (message.end) {
        case NONE -> target.getOutputStream().write(message.bytes);
        case CLOSED -> target.shutdownOutput();
        case BROKEN -> link.reset();
      }
    } catch (IOException e) {
      targetGone = true; // whoever reads from it notices, too, and ends the other direction
    }
  }

  private static void awaitDue(long dueNanos) throws InterruptedException {
    for (long left = dueNanos - System.nanoTime(); left > 0; left = dueNanos - System.nanoTime()) {
      LockSupport.parkNanos(left);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
  }
}
