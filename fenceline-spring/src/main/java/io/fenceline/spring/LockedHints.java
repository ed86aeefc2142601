package io.fenceline.spring;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.annotation.ReflectiveProcessor;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Keeps locked methods and their fallbacks in a native image, where both are found by reflection.
 */
final class LockedHints implements ReflectiveProcessor {

  LockedHints() {}

  @Override
  public void registerReflectionHints(ReflectionHints hints, AnnotatedElement element) {
    Locked locked = AnnotatedElementUtils.findMergedAnnotation(element, Locked.class);
    if (locked == null) {
      return;
    }
    Class<?> type = element instanceof Method method ? method.getDeclaringClass() : null;
    if (element instanceof Class<?> whole) {
      type = whole;
      for (Method method : whole.getMethods()) {
        if (method.getDeclaringClass() != Object.class) {
          hints.registerMethod(method, ExecutableMode.INVOKE);
        }
      }
    } else if (element instanceof Method method) {
      hints.registerMethod(method, ExecutableMode.INVOKE);
    }
    if (type != null && !locked.fallback().isEmpty()) {
      for (Method method : ReflectionUtils.getUniqueDeclaredMethods(type)) {
        if (method.getName().equals(locked.fallback())) {
          hints.registerMethod(method, ExecutableMode.INVOKE);
        }
      }
    }
  }
}
