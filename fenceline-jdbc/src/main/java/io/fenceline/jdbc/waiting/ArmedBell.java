package io.fenceline.jdbc.waiting;

/**
 * What a claim that is about to join a queue knows of the bell of its process: whether it was armed
 * before the claim was in the queue, and all the time since.
 *
 * <p>If it was, no ring that is meant for the claim can have been lost: see {@link MariaDbListener}
 * and {@link SqliteListener}.
 */
public final class ArmedBell {
  /** Of a client without a bell: no lock is called like this. */
  public static final String NOBODYS = "fl.nobody";

  private final long sleep;
  private final String mark;
  private volatile boolean armed;

  ArmedBell(long sleep, String mark) {
    this.sleep = sleep;
    this.mark = mark;
  }

  /** One that has been armed for long, and is until it is opened anew. */
  static ArmedBell open(long opening) {
    ArmedBell open = new ArmedBell(opening, NOBODYS);
    open.armed();
    return open;
  }

  /** The lock that is held once the sleep that was the last one then has begun. */
  public String mark() {
    return mark;
  }

  /** That lock was held when the claim joined the queue. */
  public void armed() {
    armed = true;
  }

  /** Whether it was armed in time, and has not been rung since. */
  boolean covers(long nowSleep) {
    return armed && sleep == nowSleep;
  }
}
