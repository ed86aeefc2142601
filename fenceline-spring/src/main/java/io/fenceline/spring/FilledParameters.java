package io.fenceline.spring;

import io.fenceline.FencingToken;
import io.fenceline.Held;
import io.fenceline.Hold;
import io.fenceline.PermitHold;
import io.fenceline.settings.InvalidSettingException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The parameters of a locked method that get the hold or its token. */
final class FilledParameters {
  private static final Set<Class<?>> OF_HOLDS = Set.of(Hold.class, FencingToken.class);

  private final Class<?>[] types;

  private FilledParameters(Class<?>[] types) {
    this.types = types;
  }

  /**
   * Finds them.
   *
   * @throws InvalidSettingException if one asks for what the mode does not have
   */
  static FilledParameters of(String methodName, Method method, Locked.Mode mode) {
    for (Class<?> type : method.getParameterTypes()) {
      boolean permit = mode == Locked.Mode.PERMIT;
      if (permit ? OF_HOLDS.contains(type) : type == PermitHold.class) {
        throw InvalidMethods.found(
            methodName,
            "a parameter is a %s, which locks of mode %s do not have"
                .formatted(type.getSimpleName(), mode),
            permit ? "Take a PermitHold" : "Take a Hold or a FencingToken");
      }
    }
    return new FilledParameters(method.getParameterTypes());
  }

  private static boolean isFilled(Class<?> type) {
    return OF_HOLDS.contains(type) || type == PermitHold.class;
  }

  /** The types of the parameters that callers fill in themselves. */
  List<Class<?>> others() {
    List<Class<?>> others = new ArrayList<>();
    for (Class<?> type : types) {
      if (!isFilled(type)) {
        others.add(type);
      }
    }
    return others;
  }

  /** The arguments that callers filled in themselves. */
  List<@Nullable Object> others(@Nullable Object[] arguments) {
    List<@Nullable Object> others = new ArrayList<>();
    for (int i = 0; i < types.length; i++) {
      if (!isFilled(types[i])) {
        others.add(arguments[i]);
      }
    }
    return others;
  }

  /** Returns a copy of the arguments with the hold and its token. */
  @Nullable Object[] fill(@Nullable Object[] arguments, Held held) {
    @Nullable Object[] filled = arguments.clone();
    for (int i = 0; i < types.length; i++) {
      if (types[i] == FencingToken.class && held instanceof Hold hold) {
        filled[i] = hold.fencingToken();
      } else if (isFilled(types[i])) {
        filled[i] = held;
      }
    }
    return filled;
  }
}
