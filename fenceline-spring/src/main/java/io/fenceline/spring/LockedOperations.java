package io.fenceline.spring;

import io.fenceline.LockOptions;
import io.fenceline.settings.Durations;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spring.Locked.InTransaction;
import io.fenceline.spring.Locked.Mode;
import io.fenceline.spring.Locked.OnRefusal;
import io.fenceline.spring.LockedOperation.Returns;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.function.UnaryOperator;
import java.util.stream.BaseStream;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.expression.AnnotatedElementKey;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ReflectionUtils;

/** What {@link Locked} says about the methods of this application: read and checked once each. */
final class LockedOperations {
  private final ConfigurableBeanFactory beans;
  private final Map<AnnotatedElementKey, Optional<LockedOperation>> known =
      new ConcurrentHashMap<>();

  LockedOperations(ConfigurableBeanFactory beans) {
    this.beans = beans;
  }

  /** Whether a class may have locked methods: quick, and never wrong when it says no. */
  static boolean mayHave(Class<?> type) {
    return AnnotationUtils.isCandidateClass(type, Locked.class);
  }

  /**
   * Returns what is said about a method, as called on a type; null if it is not locked.
   *
   * @throws InvalidSettingException if what is said can't work
   */
  @Nullable LockedOperation of(Method method, @Nullable Class<?> targetType) {
    Class<?> type = targetType == null ? method.getDeclaringClass() : targetType;
    return known
        .computeIfAbsent(new AnnotatedElementKey(method, type), key -> read(method, type))
        .orElse(null);
  }

  private Optional<LockedOperation> read(Method called, Class<?> type) {
    Method method = AopUtils.getMostSpecificMethod(called, type);
    if (ReflectionUtils.isObjectMethod(method) || method.isBridge() || method.isSynthetic()) {
      return Optional.empty();
    }
    Locked locked = AnnotatedElementUtils.findMergedAnnotation(method, Locked.class);
    if (locked == null && Modifier.isPublic(method.getModifiers())) {
      locked = AnnotatedElementUtils.findMergedAnnotation(type, Locked.class);
    }
    return Optional.ofNullable(locked).map(found -> operation(found, method, type));
  }

  /** A method as people write it: {@code Type.method(Parameter)}. */
  static String describe(Class<?> type, Method method) {
    return Arrays.stream(method.getParameterTypes())
        .map(Class::getSimpleName)
        .collect(
            Collectors.joining(", ", type.getSimpleName() + "." + method.getName() + "(", ")"));
  }

  private LockedOperation operation(Locked locked, Method method, Class<?> type) {
    String described = describe(type, method);
    Reading read = new Reading(described);
    checkMode(described, locked);
    FilledParameters filled = FilledParameters.of(described, method, locked.mode());
    String fallback = read.text(locked.fallback());
    Returns returns = returns(described, method);
    checkRefusal(described, locked.onRefusal(), fallback, method);
    if (returns != Returns.RESULT && locked.inTransaction() != InTransaction.REFUSE) {
      throw InvalidMethods.found(
          described,
          "the end of its caller's transaction is not known to a method that returns before its work"
              + " is done",
          "Leave inTransaction as it is");
    }
    return new LockedOperation(
        described,
        method,
        NameTemplate.parse(described, method, read.text(locked.name()), beans),
        locked.mode(),
        locked.permits(),
        options(locked, read),
        read.duration("maxWait", locked.maxWait(), true),
        returns,
        locked.onRefusal() == OnRefusal.SKIP,
        fallback.isEmpty() ? null : Fallback.find(described, fallback, type, method, filled),
        filled,
        returns == Returns.PUBLISHER ? adapter(method.getReturnType()) : null,
        locked.inTransaction(),
        Transactions.separates(method, type),
        read.text(locked.client()));
  }

  private static void checkMode(String described, Locked locked) {
    if (locked.mode() == Mode.PERMIT ? locked.permits() < 1 : locked.permits() != 0) {
      throw InvalidMethods.found(
          described,
          "permits = %d does not go with mode = %s".formatted(locked.permits(), locked.mode()),
          "Give permits = 1 or more with mode = PERMIT, and none with any other");
    }
  }

  private static void checkRefusal(
      String described, OnRefusal onRefusal, String fallback, Method method) {
    if (onRefusal != OnRefusal.SKIP) {
      return;
    }
    if (!fallback.isEmpty()) {
      throw InvalidMethods.found(described, "it skips and has a fallback", "Choose one of them");
    }
    Class<?> type = method.getReturnType();
    if (type != void.class && type != Optional.class) {
      throw InvalidMethods.found(
          described,
          "a call that is skipped has no %s to return".formatted(type.getSimpleName()),
          "Return void or Optional, name a fallback, or let it throw");
    }
  }

  private static Returns returns(String described, Method method) {
    Class<?> type = method.getReturnType();
    if (KotlinDetector.isSuspendingFunction(method)) {
      throw InvalidMethods.found(
          described, "suspending functions are not supported", "Use LockTemplate");
    }
    if (CompletionStage.class.isAssignableFrom(type)) {
      if (type.isAssignableFrom(CompletableFuture.class)) {
        return Returns.STAGE;
      }
      throw later(described, type);
    }
    if (adapter(type) != null) {
      return Returns.PUBLISHER;
    }
    if (Future.class.isAssignableFrom(type) || BaseStream.class.isAssignableFrom(type)) {
      throw later(described, type);
    }
    return Returns.RESULT;
  }

  private static InvalidSettingException later(String described, Class<?> type) {
    return InvalidMethods.found(
        described,
        "a %s is not done when the method returns, and does not tell when it is"
            .formatted(type.getSimpleName()),
        "Return the result itself, a CompletionStage, or a publisher");
  }

  private static @Nullable ReactiveAdapter adapter(Class<?> type) {
    ReactiveAdapterRegistry registry = ReactiveAdapterRegistry.getSharedInstance();
    return registry.hasAdapters() && Publishers.ARE_PRESENT ? registry.getAdapter(type) : null;
  }

  private static UnaryOperator<LockOptions> options(Locked locked, Reading read) {
    Duration lease = read.duration("lease", locked.lease(), false);
    Duration fixed = read.duration("fixedLease", locked.fixedLease(), false);
    Duration atLeast = read.duration("keepAtLeast", locked.keepAtLeast(), true);
    boolean interrupts = locked.interruptOnLoss();
    if (lease != null && fixed != null) {
      throw InvalidMethods.found(
          read.described,
          "it has a lease and a fixed lease",
          "A lease renews itself, a fixed one ends: choose one of them");
    }
    return given -> {
      LockOptions options = given;
      options = lease == null ? options : options.lease(lease);
      options = fixed == null ? options : options.fixedLease(fixed);
      options = atLeast == null ? options : options.keepAtLeast(atLeast);
      return interrupts ? options.interruptOnLoss() : options;
    };
  }

  /** Reads the attributes of one annotation. */
  private final class Reading {
    private final String described;

    Reading(String described) {
      this.described = described;
    }

    String text(String attribute) {
      String resolved;
      try {
        resolved = beans.resolveEmbeddedValue(attribute);
      } catch (IllegalArgumentException e) {
        throw unresolved(attribute, e);
      }
      if (resolved != null && resolved.contains("${")) {
        throw unresolved(attribute, null); // A context may leave it as it is.
      }
      return resolved == null ? "" : resolved;
    }

    private InvalidSettingException unresolved(
        String attribute, @Nullable IllegalArgumentException cause) {
      return InvalidMethods.found(
          described,
          "'%s' has a placeholder that can't be resolved".formatted(attribute),
          "Set it in this application's properties",
          cause);
    }

    @Nullable Duration duration(String attribute, String written, boolean mayBeZero) {
      String text = text(written).strip();
      if (text.isEmpty()) {
        return null;
      }
      try {
        Duration duration =
            text.startsWith("P") ? Duration.parse(text) : Durations.parse(attribute, text);
        return mayBeZero
            ? Durations.checkNotNegative(attribute, duration)
            : Durations.checkPositive(attribute, duration);
      } catch (InvalidSettingException | DateTimeParseException e) {
        throw InvalidMethods.found(
            described,
            "%s = '%s' is not a duration (%s)".formatted(attribute, text, e.getMessage()),
            "Write 250ms, 5s, 2m, 1h or PT5S",
            e);
      }
    }
  }
}
