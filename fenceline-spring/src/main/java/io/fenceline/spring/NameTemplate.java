package io.fenceline.spring;

import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.LockNames;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.ParserContext;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/**
 * The name of a method's lock, as a template; checked when the application starts, as far as it can
 * be known then.
 */
final class NameTemplate {
  // A part that comes out as null, or as an address in memory, would give one lock for everything,
  // or a lock for each object: both look as if they worked. So each part is judged on its own.

  private static final SpelExpressionParser PARSER = new SpelExpressionParser();
  private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();
  private static final Pattern BARE_VARIABLE = Pattern.compile("#([A-Za-z_]\\w*)");
  private static final Pattern PLACE = Pattern.compile("[pa](\\d{1,3})");
  private static final int SHOWN = 60;

  private final String methodName;
  private final Method method;
  private final List<Expression> parts;
  private final BeanFactory beans;

  private NameTemplate(
      String methodName, Method method, List<Expression> parts, BeanFactory beans) {
    this.methodName = methodName;
    this.method = method;
    this.parts = parts;
    this.beans = beans;
  }

  /**
   * Reads a template.
   *
   * @param method of the class that is called, whose parameters are meant
   * @throws InvalidSettingException if it can't give names
   */
  static NameTemplate parse(String methodName, Method method, String text, BeanFactory beans) {
    if (text.isBlank()) {
      throw InvalidMethods.found(
          methodName,
          "it has no name",
          "Name the lock, such as @Locked(\"orders\") or @Locked(\"order:#{#id}\")");
    }
    Expression whole;
    try {
      whole = PARSER.parseExpression(text, ParserContext.TEMPLATE_EXPRESSION);
    } catch (ParseException | IllegalStateException e) {
      throw InvalidMethods.found(
          methodName,
          "the name '%s' does not parse (%s)".formatted(text, e.getMessage()),
          "Write text with expressions in braces, such as order:#{#id}",
          e);
    }
    List<Expression> parts =
        whole instanceof CompositeStringExpression several
            ? List.of(several.getExpressions())
            : List.of(whole);
    NameTemplate template = new NameTemplate(methodName, method, parts, beans);
    template.check(text);
    return template;
  }

  private void check(String text) {
    String[] names = NAMES.getParameterNames(method);
    boolean plain = true;
    for (Expression part : parts) {
      if (part instanceof LiteralExpression) {
        checkLiteral(part.getExpressionString(), names);
      } else if (part instanceof SpelExpression expression) {
        plain = false;
        checkNode(expression.getAST(), expression.getExpressionString(), names);
      }
    }
    if (plain) {
      try {
        LockNames.check(text);
      } catch (InvalidSettingException e) {
        throw InvalidMethods.found(
            methodName, String.valueOf(e.getMessage()), "Choose another name", e);
      }
    }
  }

  /** Someone who forgot the braces would have one lock for all. */
  private void checkLiteral(String literal, String @Nullable [] names) {
    Matcher variable = BARE_VARIABLE.matcher(literal);
    while (variable.find()) {
      String name = variable.group(1);
      if (names == null || List.of(names).contains(name) || PLACE.matcher(name).matches()) {
        throw InvalidMethods.found(
            methodName,
            "'#%s' in the name '%s' is plain text, the same for every call"
                .formatted(name, literal),
            "Write #{#%s}".formatted(name));
      }
    }
  }

  private void checkNode(SpelNode node, String expression, String @Nullable [] names) {
    if (node instanceof VariableReference variable) {
      checkVariable(variable.toStringAST().substring(1), expression, names);
    } else if (node instanceof BeanReference reference) {
      String bean = reference.toStringAST().replaceAll("^[@&]+|'", "");
      if (!beans.containsBean(bean)) {
        throw InvalidMethods.found(
            methodName,
            "there is no bean '%s' for the expression '%s'".formatted(bean, expression),
            "Name a bean of this application");
      }
    }
    for (int i = 0; i < node.getChildCount(); i++) {
      checkNode(node.getChild(i), expression, names);
    }
  }

  private void checkVariable(String variable, String expression, String @Nullable [] names) {
    if (Set.of("root", "this").contains(variable)) {
      return;
    }
    Matcher place = PLACE.matcher(variable);
    if (place.matches() && Integer.parseInt(place.group(1)) < method.getParameterCount()) {
      return;
    }
    if (names == null) {
      throw InvalidMethods.found(
          methodName,
          "'%s' names a parameter, and the class was compiled without their names"
              .formatted(expression),
          "Compile with -parameters, or write #p0 for the first one");
    }
    if (!List.of(names).contains(variable)) {
      throw InvalidMethods.found(
          methodName,
          "'%s' names the parameter '%s', which it does not have".formatted(expression, variable),
          "Its parameters are " + new TreeSet<>(Arrays.asList(names)));
    }
  }

  /**
   * Returns the name for a call.
   *
   * @throws IllegalArgumentException if it has none
   */
  String evaluate(Object target, @Nullable Object[] arguments) {
    StringBuilder name = new StringBuilder();
    MethodBasedEvaluationContext context = null;
    for (Expression part : parts) {
      if (part instanceof LiteralExpression) {
        name.append(part.getExpressionString());
        continue;
      }
      if (context == null) {
        context = new MethodBasedEvaluationContext(target, method, arguments, NAMES);
        context.setBeanResolver(new BeanFactoryResolver(beans));
      }
      name.append(text(part, context));
    }
    try {
      return LockNames.check(name.toString());
    } catch (InvalidSettingException e) {
      throw unusable(expressions(), "gives a " + e.getMessage(), e);
    }
  }

  /** The method is not called: a lock that is not the caller's would be worse than none. */
  private IllegalArgumentException unusable(
      String expression, String problem, @Nullable Throwable cause) {
    return new IllegalArgumentException(
        "The lock of %s has no usable name: '%s' %s. The method was not called."
            .formatted(methodName, expression, problem),
        cause);
  }

  private String text(Expression part, MethodBasedEvaluationContext context) {
    Object value;
    try {
      value = part.getValue(context);
    } catch (EvaluationException e) {
      throw unusable(part.getExpressionString(), "failed (" + e.getMessage() + ")", e);
    }
    if (value instanceof Optional<?> optional) {
      value = optional.orElse(null);
    }
    String problem = problem(value);
    if (value == null || problem != null) {
      throw unusable(
          part.getExpressionString(), problem == null ? "gives null" : "gives " + problem, null);
    }
    return value.toString();
  }

  /** What keeps a value from being part of a name. */
  private static @Nullable String problem(@Nullable Object value) {
    if (value == null) {
      return "null";
    }
    if (value.getClass().isArray() || value instanceof Collection || value instanceof Map) {
      return "several values (" + value.getClass().getSimpleName() + "), and one is needed";
    }
    if (hasNoText(value)) {
      return "an object of %s, which has no toString of its own: its name would differ from object to object"
          .formatted(value.getClass().getName());
    }
    String text = value.toString();
    if (text == null || text.isBlank()) {
      return "blank text";
    }
    return null;
  }

  /** Compares the text itself: a native image knows few methods of other people's types. */
  private static boolean hasNoText(Object value) {
    return (value.getClass().getName() + "@" + Integer.toHexString(value.hashCode()))
        .equals(value.toString());
  }

  private String expressions() {
    List<String> all = new ArrayList<>();
    for (Expression part : parts) {
      all.add(
          part instanceof LiteralExpression
              ? part.getExpressionString()
              : "#{" + part.getExpressionString() + "}");
    }
    String whole = String.join("", all);
    return whole.length() > SHOWN ? whole.substring(0, SHOWN) + "…" : whole;
  }
}
