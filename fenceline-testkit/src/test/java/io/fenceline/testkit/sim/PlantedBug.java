package io.fenceline.testkit.sim;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * A bug that is planted in the sources of the core, compiled in memory, and loaded beside the real
 * classes: the real core has no switches.
 */
final class PlantedBug {
  private final String name;
  private final Map<String, String> sources = new LinkedHashMap<>();

  private PlantedBug(String name) {
    this.name = name;
  }

  static PlantedBug named(String name) {
    return new PlantedBug(name);
  }

  /** Replaces a piece of a source file, which must be there exactly once. */
  PlantedBug in(String file, String text, String replacement) {
    String source = sources.computeIfAbsent(file, PlantedBug::read);
    int first = source.indexOf(text);
    if (first < 0 || source.indexOf(text, first + 1) >= 0) {
      throw new AssertionError(
          "'%s' can't be planted: in %s there is not exactly one%n%s".formatted(name, file, text));
    }
    sources.put(file, source.replace(text, replacement));
    return this;
  }

  private static String read(String file) {
    Path module = Path.of(System.getProperty("basedir", System.getProperty("user.dir")));
    List<Path> roots =
        List.of(
            module.resolveSibling("fenceline-core").resolve("src/main/java"),
            module.resolve("src/test/java"));
    for (Path root : roots) {
      Path path = root.resolve("io/fenceline").resolve(file);
      if (Files.exists(path)) {
        try {
          return Files.readString(path);
        } catch (IOException e) {
          throw new AssertionError(e);
        }
      }
    }
    throw new AssertionError(file + " is in none of " + roots);
  }

  /** The simulation of a core that has the bug. */
  @SuppressWarnings("unchecked")
  LongFunction<String> simulation() {
    try {
      Class<?> planted =
          new Planter(compile()).loadClass("io.fenceline.testkit.sim.PlantedSimulation");
      return (LongFunction<String>) planted.getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(name, e);
    }
  }

  // Compiling. ----------------------------------------------------------------------------------

  private Map<String, byte[]> compile() {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    Map<String, ByteArrayOutputStream> compiled = new HashMap<>();
    List<JavaFileObject> units = new ArrayList<>();
    sources.forEach((file, text) -> units.add(new Source(file, text)));
    StringWriter errors = new StringWriter();
    JavaFileManager files =
        new InMemory(compiler.getStandardFileManager(null, null, null), compiled);
    List<String> options =
        List.of("-proc:none", "-nowarn", "-classpath", System.getProperty("java.class.path"));
    if (!compiler.getTask(errors, files, null, options, null, units).call()) {
      throw new AssertionError("'" + name + "' does not compile: " + errors);
    }
    Map<String, byte[]> classes = new HashMap<>();
    compiled.forEach((type, bytes) -> classes.put(type, bytes.toByteArray()));
    return classes;
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String file, String text) {
      super(URI.create("string:///io/fenceline/" + file), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }

  private static final class InMemory extends ForwardingJavaFileManager<JavaFileManager> {
    private final Map<String, ByteArrayOutputStream> compiled;

    InMemory(JavaFileManager files, Map<String, ByteArrayOutputStream> compiled) {
      super(files);
      this.compiled = compiled;
    }

    @Override
    public JavaFileObject getJavaFileForOutput(
        Location location, String type, JavaFileObject.Kind kind, FileObject sibling) {
      return new SimpleJavaFileObject(URI.create("memory:///" + type), kind) {
        @Override
        public OutputStream openOutputStream() {
          ByteArrayOutputStream bytes = new ByteArrayOutputStream();
          compiled.put(type, bytes);
          return bytes;
        }
      };
    }
  }

  // Loading. ------------------------------------------------------------------------------------

  /** Loads all of Fenceline anew, with what was planted in place of the real classes. */
  private static final class Planter extends ClassLoader {
    private final Map<String, byte[]> planted;

    Planter(Map<String, byte[]> planted) {
      super(PlantedBug.class.getClassLoader());
      this.planted = planted;
    }

    @Override
    protected Class<?> loadClass(String type, boolean resolve) throws ClassNotFoundException {
      // The log belongs to the process, and whatever is planted shares it.
      if (!type.startsWith("io.fenceline.") || type.startsWith("io.fenceline.testkit.log.")) {
        return super.loadClass(type, resolve);
      }
      synchronized (getClassLoadingLock(type)) {
        Class<?> known = findLoadedClass(type);
        return known != null ? known : define(type);
      }
    }

    private Class<?> define(String type) throws ClassNotFoundException {
      byte[] bytes = planted.get(type);
      if (bytes == null) {
        try (InputStream found =
            getParent().getResourceAsStream(type.replace('.', '/') + ".class")) {
          if (found == null) {
            throw new ClassNotFoundException(type);
          }
          bytes = found.readAllBytes();
        } catch (IOException e) {
          throw new ClassNotFoundException(type, e);
        }
      }
      return defineClass(type, bytes, 0, bytes.length);
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
