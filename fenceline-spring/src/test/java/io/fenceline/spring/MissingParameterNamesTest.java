package io.fenceline.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.settings.InvalidSettingException;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * spring-boot#13945: the names of parameters are gone where a build forgets {@code -parameters}.
 */
@Timeout(300)
class MissingParameterNamesTest {
  @TempDir Path folder;

  private Class<?> compile(String name, String lock) throws IOException, ClassNotFoundException {
    Path source = folder.resolve(name + ".java");
    Files.writeString(
        source,
        """
        public class %s {
          @io.fenceline.spring.Locked("%s")
          public String method(long id, io.fenceline.Hold hold) {
            return hold.name();
          }
        }
        """
            .formatted(name, lock));
    int result =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-proc:none",
                "-cp",
                System.getProperty("java.class.path"),
                "-d",
                folder.toString(),
                source.toString());
    assertThat(result).isZero();
    URL[] urls = {folder.toUri().toURL()};
    return new URLClassLoader(urls, getClass().getClassLoader()).loadClass(name);
  }

  @Test
  void nameByParameter_failsTheStart_sayingHowToCompile() throws Exception {
    Class<?> bean = compile("ByName", "order:#{#id}");
    assertThatThrownBy(() -> Application.start(bean))
        .rootCause()
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("Compile with -parameters");
    Class<?> bare = compile("Bare", "order:#id");
    assertThatThrownBy(() -> Application.start(bare))
        .rootCause()
        .hasMessageContaining("plain text");
  }

  @Test
  void nameByPlace_works() throws Exception {
    Class<?> bean = compile("ByPlace", "order:#{#p0}");
    try (Application application = Application.start(bean)) {
      Object locked = application.bean(bean);
      assertThat(bean.getMethods())
          .filteredOn(method -> method.getName().equals("method"))
          .allSatisfy(method -> assertThat(method.invoke(locked, 7L, null)).isEqualTo("order:7"));
    }
  }
}
