package io.fenceline.spring;

import io.fenceline.LockTimeoutException;
import io.fenceline.settings.InvalidSettingException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ReflectionUtils;

/** The method that is called instead of a locked one. */
final class Fallback {
  private final Method method;
  private final boolean takesRefusal;

  private Fallback(Method method, boolean takesRefusal) {
    this.method = method;
    this.takesRefusal = takesRefusal;
  }

  /**
   * Finds it.
   *
   * @throws InvalidSettingException if there is none of that name that fits
   */
  static Fallback find(
      String methodName, String name, Class<?> type, Method locked, FilledParameters filled) {
    List<Class<?>> plain = filled.others();
    List<Class<?>> withRefusal = new ArrayList<>(plain);
    withRefusal.add(LockTimeoutException.class);
    List<Fallback> found = new ArrayList<>();
    for (Method method : ReflectionUtils.getUniqueDeclaredMethods(type)) {
      List<Class<?>> parameters = List.of(method.getParameterTypes());
      if (method.getName().equals(name)
          && !method.isBridge()
          && !method.equals(locked)
          && (parameters.equals(plain) || parameters.equals(withRefusal))
          && locked.getReturnType().isAssignableFrom(method.getReturnType())) {
        found.add(new Fallback(method, parameters.equals(withRefusal)));
      }
    }
    if (found.size() != 1) {
      throw InvalidMethods.found(
          methodName,
          "%s has %s fallback '%s' that fits"
              .formatted(type.getSimpleName(), found.isEmpty() ? "no" : "more than one", name),
          "Declare one that returns %s and takes %s, with or without a LockTimeoutException as the last"
              .formatted(locked.getReturnType().getSimpleName(), names(plain)));
    }
    ReflectionUtils.makeAccessible(found.get(0).method);
    return found.get(0);
  }

  private static String names(List<Class<?>> types) {
    return types.isEmpty()
        ? "nothing"
        : String.join(", ", types.stream().map(Class::getSimpleName).toList());
  }

  @Nullable Object call(
      Object target, List<@Nullable Object> arguments, LockTimeoutException refusal)
      throws Throwable {
    List<@Nullable Object> all = new ArrayList<>(arguments);
    if (takesRefusal) {
      all.add(refusal);
    }
    try {
      return method.invoke(Modifier.isStatic(method.getModifiers()) ? null : target, all.toArray());
    } catch (InvocationTargetException e) {
      throw e.getTargetException();
    }
  }
}
