package io.fenceline.testbed.process;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** What must be gone when this JVM ends although nobody closed it: processes, then folders. */
final class AtExit {

  private static final Set<OwnedProcess> PROCESSES = ConcurrentHashMap.newKeySet();
  private static final Set<TempFolder> FOLDERS = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(AtExit::run, "fenceline-testbed-at-exit"));
  }

  private AtExit() {}

  static void kill(OwnedProcess process) {
    PROCESSES.add(process);
  }

  static void delete(TempFolder folder) {
    FOLDERS.add(folder);
  }

  static void forget(OwnedProcess process) {
    PROCESSES.remove(process);
  }

  static void forget(TempFolder folder) {
    FOLDERS.remove(folder);
  }

  private static void run() {
    PROCESSES.forEach(OwnedProcess::kill);
    FOLDERS.forEach(TempFolder::close);
  }
}
