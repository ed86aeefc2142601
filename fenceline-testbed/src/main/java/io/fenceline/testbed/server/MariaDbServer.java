package io.fenceline.testbed.server;

import io.fenceline.testbed.process.Debian;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A MariaDB server whose user {@code fenceline} may do everything. */
public final class MariaDbServer extends InnoDbServer {

  private MariaDbServer(Builder<MariaDbServer> options) {
    super("mariadb", options);
  }

  /** Starts a server with MariaDB's own settings. */
  public static MariaDbServer start() {
    return builder().start();
  }

  public static Builder<MariaDbServer> builder() {
    return new Builder<>(MariaDbServer::new);
  }

  @Override
  void copyTemplateTo(Path data) throws IOException {
    MariaDbTemplate.copyTo(data);
  }

  @Override
  List<String> programAndOptions() {
    return List.of(Debian.program("mariadbd", "mariadb-server"));
  }

  @Override
  List<String> login() {
    return List.of(
        "--protocol=tcp",
        "--host=" + host(),
        "--port=" + port(),
        "--user=" + NAME,
        "--password=" + PASSWORD);
  }
}
