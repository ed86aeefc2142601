package io.fenceline.runtime;

import io.fenceline.testkit.Eventually;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Plays every schedule of two calls in which the first one is stopped once: between any two
 * critical sections, and within any of them, while the second one runs as far as it can.
 *
 * <p>Threads that merely run beside each other hardly ever stop between two monitors. Here the
 * runtime is loaded anew, with a point before each of its calls and around each of its monitors; a
 * crossing is played once for each point that its first call passes. One such stop finds what is
 * decided in one critical section and acted upon in the next.
 */
final class Preemptions {
  private static final Duration BOUND = Duration.ofSeconds(30);
  private static final String RUNTIME = "io/fenceline/runtime/";
  private static final Set<Thread.State> STUCK =
      EnumSet.of(
          Thread.State.BLOCKED,
          Thread.State.WAITING,
          Thread.State.TIMED_WAITING,
          Thread.State.TERMINATED);

  /** A class that is being loaded, too, makes a thread wait, but not for long. */
  private static final int STUCK_LOOKS = 5;

  private Preemptions() {}

  /**
   * Plays a crossing at every point.
   *
   * @return how many points there were
   * @throws AssertionError naming the point, if a check fails
   */
  static int play(Class<? extends Crossing> type) {
    try {
      Class<?> loaded = new Instrumenting().loadClass(type.getName());
      int point = 0;
      while (play(loaded, point)) {
        point++;
      }
      return point;
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  private static boolean play(Class<?> type, int number) throws ReflectiveOperationException {
    var constructor = type.getDeclaredConstructor();
    constructor.setAccessible(true);
    Crossing crossing = (Crossing) constructor.newInstance();
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread first = thread("first", crossing::first, thrown);
    Thread second = thread("second", crossing::second, thrown);
    PreemptionPoint point = PreemptionPoint.arm(first, number);
    String where;
    boolean reached;
    try {
      first.start();
      Eventually.until(BOUND, "the point", () -> point.isReached() || !first.isAlive());
      reached = point.isReached();
      where = reached ? "stopped at point " + number + ", " + point.where() : "not stopped";
      second.start();
      int[] looks = new int[1];
      Eventually.until(
          BOUND,
          "the second call",
          () -> {
            looks[0] = STUCK.contains(second.getState()) ? looks[0] + 1 : 0;
            return looks[0] == STUCK_LOOKS || !second.isAlive();
          });
    } finally {
      point.resume();
    }
    Eventually.until(
        BOUND, "both calls to end, " + where, () -> !first.isAlive() && !second.isAlive());
    try {
      if (thrown.get() != null) {
        throw thrown.get();
      }
      crossing.check();
    } catch (Throwable e) {
      throw new AssertionError(type.getSimpleName() + ", " + where + ": " + e.getMessage(), e);
    }
    return reached;
  }

  /** A call that may throw. */
  private interface Call {
    void run() throws Exception;
  }

  private static Thread thread(String name, Call call, AtomicReference<Throwable> thrown) {
    Thread thread =
        new Thread(
            () -> {
              try {
                call.run();
              } catch (Throwable e) {
                thrown.compareAndSet(null, e);
              }
            },
            name);
    thread.setDaemon(true);
    return thread;
  }

  // Instrumenting. ------------------------------------------------------------------------------

  /** Loads all of Fenceline anew, the runtime with points. */
  private static final class Instrumenting extends ClassLoader {
    Instrumenting() {
      super(Preemptions.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String type, boolean resolve) throws ClassNotFoundException {
      if (!type.startsWith("io.fenceline.")
          || type.equals(Crossing.class.getName())
          || type.equals(PreemptionPoint.class.getName())) {
        return super.loadClass(type, resolve);
      }
      synchronized (getClassLoadingLock(type)) {
        Class<?> known = findLoadedClass(type);
        return known != null ? known : define(type);
      }
    }

    private Class<?> define(String type) throws ClassNotFoundException {
      String path = type.replace('.', '/');
      try (InputStream found = getParent().getResourceAsStream(path + ".class")) {
        if (found == null) {
          throw new ClassNotFoundException(type);
        }
        byte[] bytes = found.readAllBytes();
        byte[] defined = path.startsWith(RUNTIME) ? withPoints(bytes) : bytes;
        return defineClass(type, defined, 0, defined.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(type, e);
      }
    }
  }

  private static byte[] withPoints(byte[] original) {
    ClassReader reader = new ClassReader(original);
    ClassWriter writer = new ClassWriter(reader, 0);
    reader.accept(
        new ClassVisitor(Opcodes.ASM9, writer) {
          @Override
          public MethodVisitor visitMethod(
              int access, String name, String descriptor, String signature, String[] exceptions) {
            return new Points(super.visitMethod(access, name, descriptor, signature, exceptions));
          }
        },
        0);
    return writer.toByteArray();
  }

  /** Puts points before calls into the runtime and into concurrent collections, and at monitors. */
  private static final class Points extends MethodVisitor {
    Points(MethodVisitor next) {
      super(Opcodes.ASM9, next);
    }

    private void point() {
      super.visitMethodInsn(
          Opcodes.INVOKESTATIC, RUNTIME + "PreemptionPoint", "pass", "()V", false);
    }

    @Override
    public void visitMethodInsn(
        int opcode, String owner, String name, String descriptor, boolean isInterface) {
      if (owner.startsWith(RUNTIME) || owner.startsWith("java/util/concurrent/")) {
        point();
      }
      super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
    }

    @Override
    public void visitInsn(int opcode) {
      if (opcode == Opcodes.MONITORENTER) {
        point();
      }
      super.visitInsn(opcode);
      if (opcode == Opcodes.MONITOREXIT) {
        point();
      }
    }
  }
}
