package io.fenceline.spring;

import io.fenceline.Fenceline;
import io.fenceline.Held;
import io.fenceline.Hold;
import java.lang.reflect.AnnotatedElement;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationAttributes;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/** The caller's transaction, where the application has transactions at all. */
final class Transactions {
  private static final boolean PRESENT =
      ClassUtils.isPresent(
          "org.springframework.transaction.support.TransactionSynchronizationManager",
          Transactions.class.getClassLoader());

  private static final String ANNOTATION =
      "org.springframework.transaction.annotation.Transactional";

  private Transactions() {}

  /** Whether Spring's transactions are there. */
  static boolean arePresent() {
    return PRESENT;
  }

  /** Whether the calling thread is inside a transaction. */
  static boolean isActive() {
    return PRESENT && Bound.isActive();
  }

  /** Keeps something until the transaction of the calling thread has ended. */
  static void releaseAtTheEnd(Fenceline client, String name, Held held) {
    Bound.releaseAtTheEnd(client, name, held);
  }

  /** What is kept until the end of the calling thread's transaction, by that name. */
  static @Nullable Hold find(Fenceline client, String name) {
    return PRESENT ? Bound.find(client, name) : null;
  }

  /** Whether a method leaves the transaction of its caller aside. */
  static boolean separates(AnnotatedElement method, Class<?> type) {
    if (!PRESENT) {
      return false;
    }
    AnnotationAttributes declared =
        AnnotatedElementUtils.findMergedAnnotationAttributes(method, ANNOTATION, false, false);
    if (declared == null) {
      declared =
          AnnotatedElementUtils.findMergedAnnotationAttributes(type, ANNOTATION, false, false);
    }
    return declared != null && Bound.separates(declared);
  }

  /** Apart, so that nothing of it is loaded where transactions are not there. */
  private static final class Bound {
    private Bound() {}

    static boolean isActive() {
      return TransactionSynchronizationManager.isActualTransactionActive();
    }

    static boolean separates(AnnotationAttributes declared) {
      Propagation propagation = declared.getEnum("propagation");
      return propagation == Propagation.REQUIRES_NEW || propagation == Propagation.NOT_SUPPORTED;
    }

    static void releaseAtTheEnd(Fenceline client, String name, Held held) {
      TransactionSynchronizationManager.registerSynchronization(new Kept(client, name, held));
    }

    static @Nullable Hold find(Fenceline client, String name) {
      if (!TransactionSynchronizationManager.isSynchronizationActive()) {
        return null;
      }
      for (TransactionSynchronization each :
          TransactionSynchronizationManager.getSynchronizations()) {
        if (each instanceof Kept kept
            && kept.client == client
            && kept.name.equals(name)
            && kept.held instanceof Hold hold) {
          return hold;
        }
      }
      return null;
    }
  }

  /** Released after the commit or the rollback; a lock that is lost before forbids the commit. */
  private record Kept(Fenceline client, String name, Held held)
      implements TransactionSynchronization {

    @Override
    public void beforeCommit(boolean readOnly) {
      LockedContext.requireValid(held);
    }

    @Override
    public void afterCompletion(int status) {
      held.close();
    }
  }

  /** Whether an advice begins and ends transactions. */
  static boolean isAdvice(Object advice) {
    return PRESENT && Advice.is(advice);
  }

  /** Apart, as {@link Bound}. */
  private static final class Advice {
    private Advice() {}

    static boolean is(Object advice) {
      return advice instanceof TransactionAspectSupport;
    }
  }
}
