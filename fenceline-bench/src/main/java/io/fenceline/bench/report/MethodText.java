package io.fenceline.bench.report;

/** What a page says of how it was measured. */
final class MethodText {
  private MethodText() {}

  static final String INTRODUCTION =
      """
      Fenceline beside other locks, on the same servers, with the same work, in one run. Written by
      `./bench`; to repeat it:

      ```sh
      ./bench                      # everything, about 40 minutes
      ./bench --quick              # for a look, below five minutes
      ./bench redis --works=solo   # one store, some works; --contenders=floor,fenced likewise
      ```

      The figures as JSON: [benchmarks/figures.json](benchmarks/figures.json).
      """;

  static final String METHOD =
      """
      ## Method

      - **Works.** *solo*: one thread. *spread*: 32 threads, each with a name of its own. *hot*: 32
        threads of one process, one name. *busy*: 8 threads, one name, and 1 or 10 ms inside. *fleet*:
        four processes of eight threads, one name. *turns*: 2, 8 or 32 processes of one thread, one name,
        and 0, 1 or 10 ms inside. *waiters*: claims placed at the store directly, past
        the client's own queue. *holds*: names held and renewed, and solo cycles beside them. *names*:
        names held on long leases that nobody renews, and solo cycles of another client beside them.
      - **A cycle** is lock, nothing inside (unless said), unlock; the answer of the unlock is waited
        for. Fenceline runs with its defaults: tokens and auto-renewal on.
      - **Floors** are the same requests without a lock around them, through the same client library: on
        Redis a script that sets the key and mints a number, and one that compares and deletes; on
        ZooKeeper create and list sent together, and delete; on etcd a transaction and a delete on a reused
        key; in PostgreSQL two plain updates with the same durability (the release need not be on disk); in
        SQLite two transactions with the same pragmas. *Bare* ones do less than a lock needs and have no
        goal.
      - **Floors of *turns*** hand on in a ring of processes that know each other, without a lock or a lease:
        on Redis `BLPOP` and a script that mints a number and pushes it; in PostgreSQL `NOTIFY` on a channel of the
        next one and one update that is on disk; on ZooKeeper the deletion of a node that the next one
        watches; on etcd a put of a key that it watches; at an SQLite file one transaction and a byte through
        a Unix-domain socket; in MariaDB `GET_LOCK` around an update. A hand-over is from the beginning of
        the release in one process to the return of the acquire in another, by the machine's clock. What is
        counted on the wire is all that came while turns were taken, over the hand-overs between processes.
        MariaDB takes part in this work only.
      - **Rounds are interleaved**: each contender has a short turn in each round, in an order that is
        drawn anew each time; ratios are taken within rounds, and the median of them is shown. The clock
        of a turn runs while all threads are at work.
      - **Each contender has a JVM of its own**, with the same settings, as it has in an application; while
        one has its turn, the others wait. In one JVM they share their drivers' classes, which are then
        compiled for all of them together. Before the first work, each runs on 32 threads until its compiler
        is at rest (below 3 % of the time, twice in a row; 40 s at most), and so again before each work.
      - **95 %** is the interval of that median by the sign test, over 101 rounds of a tenth of a second
        (*solo*, *spread*), 9 of half a second (*hot*), or 3 (others, where it is all that was seen). A
        goal that lies within it is called *close*: another run could decide otherwise.
      - **Checked while measured**: an unprotected counter under each lock (in shared memory for fleets)
        must come out right, nobody may meet anybody inside, and tokens must rise. A lock that fails ends
        the run.
      - **On the wire** is counted at the server: Redis by MONITOR, ZooKeeper by its packets, etcd by its
        gRPC messages, PostgreSQL by its log. It is counted in extra cycles, not in those that are timed.
      - CPU times are those of the client's process and of the server's, for one cycle. For a renewal, what
        both use while nothing is held is taken off; each hold is renewed once while it is watched, on the
        default lease of 30 s. Servers count their CPU time in hundredths of a second, so what is said of
        a few hand-offs or renewals is coarse; it is left empty where nothing could be told from idling.

      ## What favours whom

      - Server and clients share one machine: round trips are shorter than in any network, which favours
        whoever needs more of them, and CPU time counts more than it would elsewhere.
      - On ZooKeeper, *solo* and *spread* use names that only one client uses. There Fenceline sends no
        list, which the floor and Curator do: two requests a cycle, not three. Where clients use a name
        in turns it sends three.
      - On Redis, short requests of Fenceline that meet in one client travel as one script (below one
        command a cycle in *spread*); the floor and the others send each for itself.
      - *hot* and *fleet* favour Fenceline by design: it passes a grant from thread to thread of one
        process for up to 10 ms, where most others go to the server each time. Spring's registries queue
        in the process too, but go to the server for each.
      - Redisson, Spring and Curator run with their defaults (Redisson's watchdog on; Spring's Redis
        registry with messages instead of its default polling). Each thread of jetcd's lock has a lease of
        its own, made before the clock runs: on one lease, its claims would be one. ShedLock uses the
        database's clock; it does not wait, so it takes part where names are free.
      - Advisory locks keep nothing on disk and have no lease and no token; a reader who needs neither
        should use them.
      - Several contenders have no token, and their cycles are cheaper by it.
      """;
}
