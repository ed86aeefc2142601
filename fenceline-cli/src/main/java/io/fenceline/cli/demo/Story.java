package io.fenceline.cli.demo;

import io.fenceline.cli.failure.ExitCode;
import io.fenceline.cli.failure.Failure;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Plays the three scenes and explains each. */
public final class Story {
  private static final List<String> SELLERS = List.of("Ann", "Bob", "Cyd", "Dan");
  private static final Duration LEASE = Duration.ofSeconds(1);
  private static final long PAUSE_MILLIS = 2_000;
  private static final long THINKING_MILLIS = 40;
  private static final long PATIENCE_SECONDS = 30;

  private final Path home;

  /** Played by processes of the distribution at this place. */
  public Story(Path home) {
    this.home = home;
  }

  /** Plays it; needs about ten seconds. */
  public void play() throws InterruptedException {
    Path folder = null;
    try {
      folder = Files.createTempDirectory("fenceline-demo-");
      String store = "sqlite:" + folder.resolve("locks.db");
      System.out.println(
          "Four processes sell the same " + Shop.ITEMS + " items. Each looks how many are left,");
      System.out.println("takes its time, and writes back one less.");
      scene("1. Without a lock", new Scene(null, false, false));
      System.out.println("   All of them saw the same item on the shelf, and each sold it.");
      scene("2. With a lock", new Scene(store, false, false));
      System.out.println("   One at a time: who looks is the only one who writes.");
      scene("3. With a lock, and one process stopped past its lease", new Scene(store, true, true));
      System.out.println(
          "   The stopped seller lost its lock while it slept, woke up, and wrote as if nothing had");
      System.out.println(
          "   happened. No lock can prevent that. Its token was smaller than one that the shop had");
      System.out.println(
          "   seen since, so the shop refused it: that is what a fencing token is for.");
      System.out.println();
      System.out.println("Try it: fenceline run NAME -- sh -c 'echo $FENCELINE_TOKEN'");
    } catch (IOException e) {
      throw new Failure(ExitCode.SYSTEM, "the demo failed: " + e.getMessage(), e);
    } finally {
      delete(folder);
    }
  }

  private record Scene(@Nullable String store, boolean pauses, boolean fenced) {}

  private void scene(String title, Scene scene) throws IOException, InterruptedException {
    System.out.println();
    System.out.println(title);
    Shop shop = new Shop(scene.fenced());
    AtomicBoolean pause = new AtomicBoolean(scene.pauses());
    CyclicBarrier start = new CyclicBarrier(SELLERS.size());
    List<Thread> clerks = new ArrayList<>();
    for (String name : SELLERS) {
      Process process = seller(scene);
      Thread clerk = new Thread(() -> serve(name, process, shop, pause, start), name);
      clerk.start();
      clerks.add(clerk);
    }
    for (Thread clerk : clerks) {
      clerk.join(TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS));
    }
    draw(shop);
  }

  private Process seller(Scene scene) throws IOException {
    List<String> command = new ArrayList<>();
    command.addAll(List.of(home.resolve("bin/fenceline").toString(), "demo-seller"));
    command.add("--lease=" + LEASE.toMillis() + "ms");
    if (scene.store() != null) {
      command.add("--store=" + scene.store());
    }
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  /** Answers one seller until it is done. */
  private static void serve(
      String name, Process process, Shop shop, AtomicBoolean pause, CyclicBarrier start) {
    try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8);
        PrintWriter out = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true)) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] words = line.split(" ", -1);
        switch (words[0]) {
          case "ready" -> {
            start.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
            out.println("go");
          }
          case "look" -> out.println(shop.look());
          case "think" -> {
            if (pause.compareAndSet(true, false)) {
              System.out.println("   (" + name + " holds the lock, and is stopped)");
              signal("STOP", process);
              TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
              signal("CONT", process);
            }
            TimeUnit.MILLISECONDS.sleep(THINKING_MILLIS);
            out.println("paid");
          }
          default -> {
            int left = Integer.parseInt(words[1]);
            out.println(shop.sell(name, left, Long.parseLong(words[2])) ? "ok" : "refused");
          }
        }
      }
      process.waitFor();
    } catch (IOException | BrokenBarrierException | TimeoutException e) {
      process.destroyForcibly();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  private static void signal(String name, Process process)
      throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-s", name, String.valueOf(process.pid())).start().waitFor();
  }

  /** One row a seller, one column an attempt in the order in which the shop saw it. */
  private static void draw(Shop shop) {
    List<Shop.Sale> sales = shop.sales();
    for (String name : SELLERS) {
      StringBuilder row = new StringBuilder("   " + name + " ");
      for (Shop.Sale sale : sales) {
        boolean mine = sale.seller().equals(name);
        row.append(mine ? (sale.accepted() ? " #" : " x") : " .");
      }
      System.out.println(row);
    }
    for (Shop.Sale sale : sales) {
      if (!sale.accepted()) {
        System.out.println("   x: " + sale.seller() + " was refused, " + sale.note());
      }
    }
    long sold = sales.stream().filter(Shop.Sale::accepted).count();
    System.out.println(
        "   => " + sold + " sold of " + Shop.ITEMS + (sold > Shop.ITEMS ? "  OVERSOLD" : ""));
  }

  private static void delete(@Nullable Path folder) {
    if (folder == null) {
      return;
    }
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
      Files.delete(folder);
    } catch (IOException e) {
      // It is a temporary folder.
    }
  }
}
