package io.fenceline.runtime.notice;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;

/**
 * Handles items one after another, on one thread of an executor at a time. An item that comes while
 * too many wait is dropped; the next one is handled with the number of dropped items.
 */
final class SerialQueue<T> {

  /** Handles an item; must not throw. */
  @FunctionalInterface
  interface Handler<T> {

    /** Handles an item, and is told how many were dropped since the one before. */
    void handle(T item, long dropped);
  }

  private final Executor executor;
  private final int capacity;
  private final Handler<T> handler;
  private final ArrayDeque<T> waiting = new ArrayDeque<>();
  private boolean draining;
  private long dropped;

  SerialQueue(Executor executor, int capacity, Handler<T> handler) {
    this.executor = executor;
    this.capacity = capacity;
    this.handler = handler;
  }

  /** Adds an item; false if it was dropped. Never throws, since callers have other work left. */
  boolean add(T item) {
    synchronized (waiting) {
      if (waiting.size() >= capacity) {
        dropped++;
        return false;
      }
      waiting.add(item);
      if (draining) {
        return true;
      }
      draining = true;
    }
    try {
      executor.execute(this::drain);
    } catch (Throwable e) {
      synchronized (waiting) {
        draining = false; // The item waits until the next add tries the executor again.
      }
    }
    return true;
  }

  private void drain() {
    while (true) {
      T item;
      long droppedBefore;
      synchronized (waiting) {
        item = waiting.poll();
        droppedBefore = dropped;
        dropped = 0;
        if (item == null) {
          draining = false;
          return;
        }
      }
      handler.handle(item, droppedBefore);
    }
  }
}
