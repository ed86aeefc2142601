package io.fenceline.bench.report;

/** The introduction and the method of a report page. */
final class MethodText {
  private MethodText() {}

  static final String INTRODUCTION =
      """
      Fenceline and other locks, compared on the same servers, with the same work, in one run. `./bench`
      has written this page; to repeat the run:

      ```sh
      ./bench                      # everything, about 40 minutes
      ./bench --quick              # a first impression, in less than five minutes
      ./bench redis --works=solo   # one store, some works; --contenders=floor,fenced likewise
      ```

      All figures as JSON: [benchmarks/figures.json](benchmarks/figures.json).
      """;

  static final String METHOD =
      """
      ## Method

      - **Workloads.** *solo*: one thread. *spread*: 32 threads, each with a name of its own. *hot*: 32
        threads of one process, one name. *busy*: 8 threads, one name, and 1 or 10 ms of work under the
        lock. *fleet*: four processes of eight threads, one name. *turns*: 2, 8 or 32 processes of one
        thread, one name, and 0, 1 or 10 ms of work under the lock. *crowd*: 2 to 500 clients in
        four processes, each with connections and a thread of its own, one name. *waiters*: claims placed at the store
        directly, past the client's own queue. *holds*: names held and renewed, and solo cycles beside them. *names*:
        names held on long leases that nobody renews, and solo cycles of another client beside them.
      - **A cycle** is lock, then unlock, with no work in between unless stated; it ends when the answer
        to the unlock has arrived. Fenceline runs with its defaults: tokens and auto-renewal on.
      - **Floors** are the requests that a lock needs at least, sent without one through the same client
        library: on Redis a script that sets the key and draws a number, and one that compares and deletes; on
        ZooKeeper create and list sent together, and delete; on etcd a transaction and a delete on a reused
        key; in PostgreSQL two plain updates with the same durability (the release need not be on disk); in
        SQLite two transactions with the same pragmas. Floors called *bare* do less than a lock needs; no
        goal refers to them.
      - **Floors of *turns*** pass the turn around a ring of processes that know each other, without a lock
        or a lease: on Redis `BLPOP` and a script that draws a number and pushes it; in PostgreSQL `NOTIFY` on the
        next process's channel and one update that is on disk; on ZooKeeper the deletion of a node that the next
        process watches; on etcd a put of a key that it watches; at an SQLite file one transaction and a byte
        through a Unix-domain socket; in MariaDB `GET_LOCK` around an update. A hand-over lasts from the beginning
        of the release in one process to the return of the acquire in another, by the machine's clock. The figure
        on the wire is everything that was sent during the turns, divided by the hand-overs between processes.
        MariaDB takes part in this workload and in *crowd* only.
      - **In *crowd***, every client wants the name all of the time, so that all but one of them wait. The processes share the
        machine, not the connections: a client has what it would have in a process of its own. The column *timed out*
        counts acquires that took longer than a minute, or that the store did not answer. What is on the wire contains the
        signs of life of those who wait.
      - **Rounds are interleaved**: in each round every contender runs for a short time, in a new random
        order. Ratios are computed within a round; the page shows their median. Time is counted only while
        all threads are working.
      - **Each contender has a JVM of its own**, with the same settings, as in an application; while one is
        measured, the others wait. In a shared JVM, the classes of a driver would be compiled for all contenders
        together. Before the first workload, and again before each further one, a contender runs on 32 threads until
        its JIT compiler is idle (below 3 % of the time, twice in a row; 40 s at most). The processes of *turns* take
        turns until the compilers of all of them together are as idle, or for 40 s: with 32 processes each has one cycle
        in 32, and they are seldom idle by then.
      - **95 %** is the confidence interval of that median by the sign test, over 101 rounds of a tenth of
        a second (*solo*, *spread*) or 9 of half a second (*hot*). *turns* has 7 rounds, the other workloads have 3, and
        the column shows the range of their results. A goal that lies within the interval is called *close*:
        another run could decide otherwise.
      - **Checked while measured**: an unprotected counter under each lock (in shared memory for fleets)
        must have the right value at the end, no two holders may be inside at the same time, and tokens must
        rise. A lock that violates one of these ends the run.
      - **On the wire**: requests are counted at the server, in Redis by MONITOR, in ZooKeeper by its packets,
        in etcd by its gRPC messages, in PostgreSQL by its log. They are counted in extra cycles, not in those
        that are timed.
      - **CPU times** are those of the client's process and of the server's, for one cycle. For renewals, the CPU
        time that both use while nothing is held is subtracted; each hold is renewed once during the measurement,
        on the default lease of 30 s. Servers report their CPU time in hundredths of a second, so figures for few
        hand-overs or renewals are coarse; a cell is empty where the figure can't be told from an idle server.

      ## What favours whom

      - Server and clients share one machine: round trips are shorter than over a network, which favours
        locks that need more of them, and CPU time counts more than it would elsewhere.
      - On ZooKeeper, *solo* and *spread* use names that only one client uses. There Fenceline does
        not list the claims of the name, as the floor and Curator do: it sends two requests a cycle, not three.
        Where clients use a name in turns, it sends three.
      - On Redis, Fenceline batches small requests of one client into one script (fewer than one command a
        cycle in *spread*); the floor and the others send each request on its own.
      - *hot* and *fleet* favour Fenceline by design: it passes a grant from thread to thread of one
        process for up to 10 ms, where most others go to the server each time. Spring's registries queue
        inside the process, too, but go to the server for each acquire.
      - Redisson, Spring and Curator run with their defaults (Redisson's watchdog on; Spring's Redis
        registry with messages instead of its default polling). With jetcd, each thread has an etcd lease of
        its own, created before the measurement: claims on the same lease would count as one. ShedLock uses the
        database's clock. It can't wait for a lock, so it takes part only where names are free.
      - Advisory locks keep nothing on disk, and have no lease and no token; if you need neither, use them.
      - Several contenders have no token, which makes their cycles cheaper.
      """;
}
