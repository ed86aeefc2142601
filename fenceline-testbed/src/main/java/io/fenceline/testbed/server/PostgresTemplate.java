package io.fenceline.testbed.server;

import io.fenceline.testbed.process.Debian;
import io.fenceline.testbed.process.TempFolder;
import io.fenceline.testbed.process.Tool;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A data folder as initdb leaves it, made once in this JVM and copied for each server. */
final class PostgresTemplate {

  private static @Nullable Path made;

  private PostgresTemplate() {}

  /** Makes {@code target}, owned by the user that PostgreSQL runs as. */
  static synchronized void copyTo(Path target) throws IOException {
    Path template = made;
    if (template == null) {
      template = make();
      made = template;
    }
    Tool.run("cp", "-a", "--reflink=auto", template.toString(), target.toString());
  }

  private static Path make() {
    TempFolder folder = TempFolder.create("postgres-template"); // deleted when this JVM ends
    PostgresServer.USER.own(folder.path());
    Path password = folder.path().resolve("password");
    Path data = folder.path().resolve("data");
    try {
      Files.writeString(password, PostgresServer.PASSWORD);
      PostgresServer.USER.own(password);
      Tool.run(
          PostgresServer.USER,
          Map.of(),
          List.of(
              Debian.postgresProgram("initdb"),
              "--no-sync",
              "--locale=C",
              "--encoding=UTF8",
              "--auth=scram-sha-256",
              "--username=" + PostgresServer.NAME,
              "--pwfile=" + password,
              "--pgdata=" + data));
      return data;
    } catch (IOException e) {
      folder.close();
      throw new UncheckedIOException(e);
    } catch (RuntimeException | Error e) {
      folder.close();
      throw e;
    }
  }
}
