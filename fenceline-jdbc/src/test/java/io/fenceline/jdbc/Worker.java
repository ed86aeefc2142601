package io.fenceline.jdbc;

import io.fenceline.Fenceline;
import io.fenceline.Hold;
import io.fenceline.LockOptions;
import io.fenceline.jdbc.sql.Dialect;
import io.fenceline.jdbc.sql.SqliteDialect;
import io.fenceline.settings.HandOff;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Another process that uses locks, told what to do by lines: {@code hold NAME}, {@code release},
 * {@code count NAME FILE THREADS ROUNDS}, {@code turns NAME FILE THREADS ROUNDS}, {@code wait NAME
 * THREADS}, {@code begin} a transaction of SQLite.
 */
public final class Worker {
  private static final Duration LONG = Duration.ofMinutes(2);

  private Worker() {}

  public static void main(String[] arguments) throws Exception {
    LockOptions options =
        LockOptions.defaults().lease(Duration.ofMillis(Long.parseLong(arguments[1])));
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (Fenceline fenceline =
        Fenceline.builder()
            .store(arguments[0])
            .label(arguments[2])
            .connectTimeout(LONG) // Several JVMs start at once.
            .defaultOptions(options)
            .handOff(new HandOff(32, Duration.ofMillis(10))) // So that turns are short, and many.
            .connect()) {
      System.out.println("ready");
      Hold hold = null;
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] words = line.split(" ");
        switch (words[0]) {
          case "hold" -> {
            hold = fenceline.lock(words[1]).acquireAsync(LONG).get();
            hold.onLost(loss -> System.out.println("lost"));
            System.out.println("held " + hold.token());
          }
          case "release" ->
              System.out.println(
                  "valid=" + hold.isValid() + " " + hold.release() + " " + hold.token());
          case "count", "turns" -> {
            increment(fenceline, words, arguments[2]);
            System.out.println("done");
          }
          case "wait" -> {
            for (int i = 0; i < Integer.parseInt(words[2]); i++) {
              fenceline.lock(words[1]).acquireAsync(LONG).thenAccept(Hold::close);
            }
            System.out.println("waiting");
          }
          case "begin" -> {
            Dialect sqlite = new SqliteDialect();
            sqlite.begin(DriverManager.getConnection("jdbc:" + arguments[0]));
            System.out.println("begun");
          }
          default -> throw new IllegalArgumentException(line);
        }
      }
    }
  }

  /** Reads, adds one and writes, which is only right under a lock; or notes whose turn it was. */
  private static void increment(Fenceline fenceline, String[] words, String label)
      throws InterruptedException {
    Path file = Path.of(words[2]);
    int rounds = Integer.parseInt(words[4]);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < Integer.parseInt(words[3]); i++) {
      Thread thread =
          new Thread(
              () -> {
                for (int round = 0; round < rounds; round++) {
                  try (Hold hold = fenceline.lock(words[1]).acquire(LONG)) {
                    if (words[0].equals("count")) {
                      long value = Long.parseLong(Files.readString(file));
                      Files.writeString(file, Long.toString(value + 1));
                    } else {
                      String turn = label + " " + (hold.token() >> 8) + "\n";
                      Files.writeString(file, turn, StandardOpenOption.APPEND);
                    }
                  } catch (Exception e) {
                    System.out.println("failed " + e);
                  }
                }
              });
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }
}
