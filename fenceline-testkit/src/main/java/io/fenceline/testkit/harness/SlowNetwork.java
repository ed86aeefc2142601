package io.fenceline.testkit.harness;

/** A network between a client and its server that can keep replies back: a proxy, mostly. */
public interface SlowNetwork extends AutoCloseable {

  /** What is kept back, until it is lifted. */
  interface KeptBack {

    /** Returns how many messages were kept back so far: proof that it happened. */
    long timesApplied();

    /** Lets everything go that was kept back, and whatever follows. */
    void lift();
  }

  /**
   * Keeps back the reply to one request, and all that follows it on the same connection.
   *
   * @param request which one, counted from 1, from now on
   */
  KeptBack holdReply(int request);

  /** Keeps back everything that the server sends from now on. */
  KeptBack holdReplies();

  /** Lifts everything that is kept back. */
  void heal();

  /** Closes the network with all its connections. */
  @Override
  void close();
}
