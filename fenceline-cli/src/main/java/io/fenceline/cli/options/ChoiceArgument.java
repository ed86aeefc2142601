package io.fenceline.cli.options;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** One of some words, in lower case, as the help has them. */
public final class ChoiceArgument<E extends Enum<E>> implements ITypeConverter<E> {
  private final Class<E> type;

  public ChoiceArgument(Class<E> type) {
    this.type = type;
  }

  @Override
  public E convert(String text) {
    List<String> words =
        Arrays.stream(type.getEnumConstants())
            .map(each -> each.name().toLowerCase(Locale.ROOT))
            .toList();
    int index = words.indexOf(text.toLowerCase(Locale.ROOT));
    if (index < 0) {
      throw new TypeConversionException("'" + text + "' is none of " + String.join(", ", words));
    }
    return type.getEnumConstants()[index];
  }
}
