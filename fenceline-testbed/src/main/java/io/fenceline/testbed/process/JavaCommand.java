package io.fenceline.testbed.process;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command line of a small JVM that starts quickly and sees the classes that we see. */
public final class JavaCommand {

  private JavaCommand() {}

  public static List<String> of(String mainClass, int heapMegabytes, List<String> jvmOptions) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xmx" + heapMegabytes + "m");
    command.add("-XX:+UseSerialGC");
    command.add("-XX:TieredStopAtLevel=1");
    command.add("-Xshare:auto");
    command.add("-XX:-UsePerfData");
    command.add("-Djava.net.preferIPv4Stack=true");
    command.addAll(jvmOptions);
    command.add("-cp");
    command.add(classPath());
    command.add(mainClass);
    return command;
  }

  private static String classPath() {
    String classPath = System.getProperty("java.class.path", "");
    String modulePath = System.getProperty("jdk.module.path", "");
    return modulePath.isEmpty() ? classPath : classPath + File.pathSeparator + modulePath;
  }
}
