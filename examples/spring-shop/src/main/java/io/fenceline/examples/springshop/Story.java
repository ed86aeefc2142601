package io.fenceline.examples.springshop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Starts two instances of the shop, sends them requests, and prints what became of them. */
public final class Story {
  private static final int ITEMS = 5;
  private static final int CUSTOMERS = 10;

  private final HttpClient http = HttpClient.newHttpClient();
  private final List<Process> instances = new ArrayList<>();
  private final List<String> addresses = new ArrayList<>();

  private Story() {}

  /** Tells the stories; arguments are passed to both instances. */
  public static void main(String[] arguments) throws IOException {
    Path folder = Files.createTempDirectory("spring-shop");
    Story story = new Story();
    try {
      story.start(folder, arguments);
      story.start(folder, arguments);
      story.tell();
    } finally {
      story.stop(folder);
    }
  }

  private void start(Path folder, String[] arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path", "")));
    command.add(SpringShop.class.getName());
    command.add("--shop.folder=" + folder);
    command.addAll(List.of(arguments));
    Process instance =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    instances.add(instance);
    BufferedReader printed =
        new BufferedReader(
            new InputStreamReader(instance.getInputStream(), StandardCharsets.UTF_8));
    String line = printed.readLine();
    while (line != null && !line.startsWith("port ")) {
      System.err.println(line);
      line = printed.readLine();
    }
    if (line == null) {
      throw new IOException("the shop did not start");
    }
    addresses.add("http://127.0.0.1:" + line.substring("port ".length()));
  }

  private void tell() {
    System.out.printf(
        "%d customers at two instances want to buy; there are %d books.%n", CUSTOMERS, ITEMS);
    post(0, "/open?items=" + ITEMS).join();
    together(CUSTOMERS, "/orders/book?customers=" + CUSTOMERS);
    System.out.printf("Without a lock:  %2d sold of %d: oversold.%n", total("sold"), ITEMS);
    post(0, "/open?items=" + ITEMS).join();
    together(CUSTOMERS, "/orders/book");
    System.out.printf("With @Locked:    %2d sold of %d.%n", total("sold"), ITEMS);

    System.out.println("An order is charged by two requests at once.");
    together(2, "/charges/4711?requests=2");
    System.out.printf("Without a lock:  charged %d times.%n", total("charges"));
    post(0, "/open?items=" + ITEMS).join();
    together(2, "/charges/4711");
    System.out.printf("With @Locked:    charged %d times.%n", total("charges"));

    long ran = together(2, "/nightly");
    System.out.printf("The nightly job ran in %d of two instances.%n", ran);
  }

  private int total(String table) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(addresses.get(1) + "/totals/" + table)).build();
    return Integer.parseInt(
        http.sendAsync(request, HttpResponse.BodyHandlers.ofString()).join().body());
  }

  /** Sends requests to both instances, all at once; returns how many were answered with yes. */
  private long together(int requests, String path) {
    List<CompletableFuture<String>> all = new ArrayList<>();
    for (int i = 0; i < requests; i++) {
      all.add(post(i % 2, path));
    }
    return all.stream().map(CompletableFuture::join).filter("true"::equals).count();
  }

  private CompletableFuture<String> post(int instance, String path) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(addresses.get(instance) + path))
            .POST(HttpRequest.BodyPublishers.noBody())
            .build();
    return http.sendAsync(request, HttpResponse.BodyHandlers.ofString())
        .thenApply(
            answer -> {
              if (answer.statusCode() != 200) {
                throw new IllegalStateException(path + " answered " + answer.statusCode());
              }
              return answer.body();
            });
  }

  private void stop(Path folder) throws IOException {
    instances.forEach(Process::destroy);
    instances.forEach(instance -> instance.onExit().join());
    try (var files = Files.list(folder)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(folder);
  }
}
