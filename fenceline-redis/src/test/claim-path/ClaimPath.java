import io.fenceline.FencedLock;
import io.fenceline.Fenceline;
import io.fenceline.Hold;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.security.ProtectionDomain;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import jdk.internal.org.objectweb.asm.ClassReader;
import jdk.internal.org.objectweb.asm.ClassVisitor;
import jdk.internal.org.objectweb.asm.ClassWriter;
import jdk.internal.org.objectweb.asm.Handle;
import jdk.internal.org.objectweb.asm.MethodVisitor;
import jdk.internal.org.objectweb.asm.Opcodes;

/**
 * Counts the classes that a waiting acquire on Redis goes through, from the call to the hold, and
 * how often it returns to a class that it had left; then the same of the release. Run by {@code
 * count}, which lies beside it.
 *
 * <p>The path is what all threads of the client enter, in order; where the caller's thread and the
 * driver's are at work at once, the caller's comes first. Two consecutive methods of one class
 * count once, nested classes as the class around them. Not counted: records, enums, exceptions,
 * lambdas, methods that call nothing and change nothing (accessors), values and functions of them
 * ({@link #VALUES}), the machine's clocks and threads, and renewals. With "first", it is the first
 * acquire of a client that waits at all: it also tries the fast path, and subscribes.
 */
public final class ClaimPath {
  private static final Set<String> VALUES =
      Set.of(
          "io.fenceline.LockOptions",
          "io.fenceline.diagnosis.Guarantees",
          "io.fenceline.FencingToken",
          "io.fenceline.redis.connection.ReplicaWait",
          "io.fenceline.redis.layout.Answers",
          "io.fenceline.redis.layout.Call",
          "io.fenceline.redis.layout.Layout",
          "io.fenceline.redis.layout.Script",
          "io.fenceline.settings.Durations",
          "io.fenceline.settings.WaitStrategy",
          "io.fenceline.spi.Causes",
          "io.fenceline.spi.ClaimAnswer",
          "io.fenceline.spi.ClaimRequest",
          "io.fenceline.spi.LockNames",
          "io.fenceline.spi.Mode",
          "io.fenceline.spi.Obstacle",
          "io.fenceline.spi.Owner",
          "io.fenceline.spi.TokenFormat",
          "io.fenceline.time.Moment",
          "io.fenceline.time.Time");

  private static final String CALLER = "caller";
  private static final Duration AMPLE = Duration.ofSeconds(60);

  private static final List<Entry> ENTRIES = Collections.synchronizedList(new ArrayList<>());
  private static volatile Part part = Part.NONE;

  /** The parts of the path; the server stands still during SENT and RELEASE. */
  private enum Part {
    NONE,
    SENT,
    WAITING,
    GRANTED,
    RELEASE,
    RELEASED
  }

  private record Entry(Part part, boolean byCaller, String type, String method) {
    /** The caller begins what is sent, and ends what is answered. */
    int order() {
      boolean callerFirst = part == Part.SENT || part == Part.RELEASE;
      return byCaller == callerFirst ? 0 : 1;
    }
  }

  // Noting what is entered. ---------------------------------------------------------------------

  /** Called by each method of Fenceline. */
  public static void entered(String type, String method) {
    Part now = part;
    String thread = Thread.currentThread().getName();
    if (now != Part.NONE && (thread.equals(CALLER) || thread.startsWith("lettuce"))) {
      ENTRIES.add(new Entry(now, thread.equals(CALLER), type, method));
    }
  }

  public static void premain(String unused, Instrumentation instrumentation) {
    instrumentation.addTransformer(
        new ClassFileTransformer() {
          @Override
          public byte[] transform(
              ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] code) {
            return name != null && name.startsWith("io/fenceline/") ? noting(name, code) : null;
          }
        });
  }

  private static byte[] noting(String name, byte[] code) {
    ClassReader reader = new ClassReader(code);
    String above = reader.getSuperName();
    String type = name.replaceAll("\\$.*", "").replace('/', '.');
    if (above.equals("java/lang/Record")
        || above.equals("java/lang/Enum")
        || name.endsWith("Exception")
        || type.startsWith("io.fenceline.runtime.machine.")
        || VALUES.contains(type)) {
      return null;
    }
    Set<String> accessors = accessors(reader);
    ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
    reader.accept(
        new ClassVisitor(Opcodes.ASM8, writer) {
          @Override
          public MethodVisitor visitMethod(
              int access, String method, String shape, String signature, String[] thrown) {
            MethodVisitor to = super.visitMethod(access, method, shape, signature, thrown);
            int without = Opcodes.ACC_SYNTHETIC | Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE;
            if ((access & without) != 0
                || method.equals("<clinit>")
                || accessors.contains(method + shape)) {
              return to;
            }
            return new MethodVisitor(Opcodes.ASM8, to) {
              @Override
              public void visitCode() {
                super.visitCode();
                super.visitLdcInsn(type);
                super.visitLdcInsn(method);
                super.visitMethodInsn(
                    Opcodes.INVOKESTATIC,
                    "ClaimPath",
                    "entered",
                    "(Ljava/lang/String;Ljava/lang/String;)V",
                    false);
              }
            };
          }
        },
        0);
    return writer.toByteArray();
  }

  /** The methods that call nothing and change nothing. */
  private static Set<String> accessors(ClassReader reader) {
    Set<String> found = new HashSet<>();
    reader.accept(
        new ClassVisitor(Opcodes.ASM8) {
          @Override
          public MethodVisitor visitMethod(
              int access, String method, String shape, String signature, String[] thrown) {
            return new MethodVisitor(Opcodes.ASM8) {
              private boolean does = method.equals("<init>");

              @Override
              public void visitMethodInsn(int code, String of, String name, String s, boolean i) {
                does = true;
              }

              @Override
              public void visitInvokeDynamicInsn(String n, String s, Handle by, Object... given) {
                does = true;
              }

              @Override
              public void visitFieldInsn(int code, String of, String name, String s) {
                does |= code == Opcodes.PUTFIELD || code == Opcodes.PUTSTATIC;
              }

              @Override
              public void visitEnd() {
                if (!does) {
                  found.add(method + shape);
                }
              }
            };
          }
        },
        0);
    return found;
  }

  // One acquire, wait, hand-over and release. ---------------------------------------------------

  public static void main(String[] arguments) throws Exception {
    if (arguments.length > 0 && arguments[0].startsWith("redis:")) {
      other(arguments[0]);
      return;
    }
    boolean first = arguments.length > 0 && arguments[0].equals("first");
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    Process server =
        new ProcessBuilder("redis-server", "--port", "" + port, "--bind", "127.0.0.1", "--save", "")
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      count("redis://127.0.0.1:" + port, server.pid(), first);
    } finally {
      server.destroy();
    }
    System.exit(0);
  }

  /** The other client: takes the lock and gives it back, as it is told. */
  private static void other(String uri) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    try (Fenceline client = Fenceline.connect(uri)) {
      while (in.readLine() != null) {
        Hold hold = client.lock("ledger").acquire();
        System.out.println("held");
        in.readLine();
        hold.release();
        System.out.println("free");
      }
    }
  }

  private static Fenceline connect(String uri) throws InterruptedException {
    for (int i = 0; i < 50; i++) {
      try {
        return Fenceline.connect(uri);
      } catch (RuntimeException e) {
        Thread.sleep(100); // The server is about to start.
      }
    }
    return Fenceline.connect(uri);
  }

  private static void count(String uri, long server, boolean first) throws Exception {
    try (Fenceline client = connect(uri)) {
      Process other =
          new ProcessBuilder(
                  "java",
                  "--add-exports",
                  "java.base/jdk.internal.org.objectweb.asm=ALL-UNNAMED",
                  "-cp",
                  System.getProperty("java.class.path"),
                  "ClaimPath",
                  uri)
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      BufferedReader from = other.inputReader();
      PrintStream to = new PrintStream(other.getOutputStream(), true);
      client.lock("another").acquire().release();
      FencedLock lock = client.lock("ledger");
      if (!first) {
        to.println();
        from.readLine();
        waitForIt(client, lock, server, () -> to.println(), false);
        from.readLine();
      }
      to.println();
      from.readLine();
      waitForIt(client, lock, server, () -> to.println(), true);
      from.readLine();
      to.close();
    }
    report();
  }

  private static void waitForIt(
      Fenceline client, FencedLock lock, long server, Runnable handOver, boolean counts)
      throws Exception {
    Semaphore granted = new Semaphore(0);
    Semaphore release = new Semaphore(0);
    Semaphore released = new Semaphore(0);
    Thread caller =
        new Thread(
            () -> {
              try (Hold hold = lock.acquire(AMPLE)) {
                granted.release();
                release.acquireUninterruptibly();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
              released.release();
            },
            CALLER);
    step(server, counts ? "STOP" : "CONT", counts ? Part.SENT : Part.NONE, caller::start);
    step(server, "CONT", counts ? Part.WAITING : Part.NONE, () -> {});
    part = Part.NONE;
    while (client.inspect("ledger").waiters().isEmpty()) {
      Thread.sleep(10);
    }
    part = counts ? Part.GRANTED : Part.NONE;
    handOver.run();
    granted.acquire();
    Thread.sleep(40); // Its first renewal comes after 100 ms.
    part = Part.NONE;
    step(server, counts ? "STOP" : "CONT", counts ? Part.RELEASE : Part.NONE, release::release);
    step(server, "CONT", counts ? Part.RELEASED : Part.NONE, () -> {});
    released.acquire();
    part = Part.NONE;
  }

  /** Stops the server or lets it go on, does something, and waits until nothing more happens. */
  private static void step(long server, String signal, Part next, Runnable begun)
      throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-" + signal, "" + server).start().waitFor();
    part = next;
    begun.run();
    int before;
    do {
      before = ENTRIES.size();
      Thread.sleep(200);
    } while (before != ENTRIES.size());
  }

  // The figures. --------------------------------------------------------------------------------

  private static void report() {
    List<Entry> all = new ArrayList<>(ENTRIES);
    all.sort(Comparator.comparing(Entry::part).thenComparing(Entry::order));
    List<Entry> acquire = all.stream().filter(e -> e.part.compareTo(Part.RELEASE) < 0).toList();
    List<Entry> release = all.stream().filter(e -> e.part.compareTo(Part.RELEASE) >= 0).toList();
    print("acquire", acquire);
    print("acquire, in redis", acquire.stream().filter(e -> e.type.contains(".redis.")).toList());
    print("acquire, in core", acquire.stream().filter(e -> !e.type.contains(".redis.")).toList());
    print("release", release);
  }

  /** Prints the classes in order; those before which there is a {@code <} were left before. */
  private static void print(String what, List<Entry> entries) {
    Map<String, Integer> times = new LinkedHashMap<>();
    StringBuilder path = new StringBuilder();
    String last = "";
    int returns = 0;
    for (Entry entry : entries) {
      if (!entry.type.equals(last)) {
        boolean again = times.merge(entry.type, 1, Integer::sum) > 1;
        returns += again ? 1 : 0;
        path.append(again ? " <" : " ").append(entry.type.replaceAll(".*\\.", ""));
        last = entry.type;
      }
    }
    System.out.println(what + ": " + times.size() + " classes, " + returns + " returns");
    System.out.println(" " + path);
    if (Boolean.getBoolean("methods")) {
      entries.forEach(e -> System.out.println("    " + e.part + " " + e.type + "." + e.method));
    }
  }
}
