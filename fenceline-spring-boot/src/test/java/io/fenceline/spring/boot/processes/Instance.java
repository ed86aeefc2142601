package io.fenceline.spring.boot.processes;

import io.fenceline.Fenceline;
import io.fenceline.FencingToken;
import io.fenceline.LockLostException;
import io.fenceline.StaleTokenException;
import io.fenceline.jdbc.JdbcFence;
import io.fenceline.spring.Locked;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/** One instance of an application that counts in a table; told what to do in lines. */
public final class Instance {
  private static final int THREADS = 16;

  private Instance() {}

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration(
      excludeName = {
        "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
        "org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration"
      })
  static class App {
    @Bean
    Counter counter(JdbcTemplate jdbc) {
      return new Counter(jdbc);
    }
  }

  /** Reads, thinks and writes: an update is lost where two do that at once. */
  static class Counter {
    private final JdbcTemplate jdbc;
    private final JdbcFence fence = JdbcFence.create().tablePrefix("app");

    Counter(JdbcTemplate jdbc) {
      this.jdbc = jdbc;
    }

    @Locked(name = "counter", maxWait = "2m")
    @Transactional
    public void increment() {
      add();
    }

    void add() {
      int before = read();
      jdbc.update("UPDATE counter SET value = ? WHERE id = 1", before + 1);
    }

    private int read() {
      Integer value = jdbc.queryForObject("SELECT value FROM counter WHERE id = 1", Integer.class);
      return value == null ? 0 : value;
    }

    /** Reads, stands still for as long as the test says, and writes with or without the fence. */
    @Locked(name = "slow", lease = "2s", maxWait = "1m")
    @Transactional
    public void addSlowly(boolean fenced, BufferedReader commands, FencingToken token)
        throws IOException {
      int before = read();
      System.out.println("inside " + token.value());
      if (commands != null) {
        commands.readLine();
      }
      if (fenced) {
        jdbc.execute(
            (ConnectionCallback<Object>)
                connection -> {
                  fence.check(connection, "counter", token);
                  return null;
                });
      }
      jdbc.update("UPDATE counter SET value = ? WHERE id = 1", before + 1);
    }
  }

  /** Starts with the given arguments, and does what it reads. */
  public static void main(String[] arguments) throws Exception {
    SpringApplication application = new SpringApplication(App.class);
    application.setWebApplicationType(WebApplicationType.NONE);
    ConfigurableApplicationContext context = application.run(arguments);
    Counter counter = context.getBean(Counter.class);
    System.out.println("ready");
    BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      String[] words = line.split(" ");
      switch (words[0]) {
        case "increment" ->
            System.out.println("failures " + all(Integer.parseInt(words[1]), counter::increment));
        case "inverted" ->
            System.out.println(
                "failures " + all(Integer.parseInt(words[1]), () -> inverted(context, counter)));
        case "slowly" -> slowly(counter, words[1].equals("fenced"), commands);
        case "quickly" -> {
          counter.addSlowly(words[1].equals("fenced"), null, null);
          System.out.println("written");
        }
        case "load" -> load(counter);
        default -> throw new IllegalArgumentException(line);
      }
    }
  }

  /** The transaction around the lock: it commits after the release. */
  private static void inverted(ConfigurableApplicationContext context, Counter counter) {
    context
        .getBean(TransactionTemplate.class)
        .executeWithoutResult(
            status -> {
              try {
                context
                    .getBean(Fenceline.class)
                    .lock("counter")
                    .run(Duration.ofMinutes(2), hold -> counter.add());
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
  }

  private static void slowly(Counter counter, boolean fenced, BufferedReader commands)
      throws IOException {
    try {
      counter.addSlowly(fenced, commands, null);
      System.out.println("outcome: done");
    } catch (StaleTokenException e) {
      System.out.println("outcome: refused by the fence");
    } catch (LockLostException e) {
      System.out.println("outcome: lost after the write");
    }
  }

  private static int all(int calls, Runnable call) throws InterruptedException {
    AtomicInteger failures = new AtomicInteger();
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    for (int thread = 0; thread < THREADS; thread++) {
      threads.execute(
          () -> {
            for (int i = 0; i < calls; i++) {
              try {
                call.run();
              } catch (RuntimeException e) {
                e.printStackTrace();
                failures.incrementAndGet();
              }
            }
          });
    }
    threads.shutdown();
    threads.awaitTermination(30, TimeUnit.MINUTES);
    return failures.get();
  }

  /** Calls without end, until calls fail. */
  private static void load(Counter counter) {
    for (int i = 0; i < THREADS; i++) {
      Thread thread =
          new Thread(
              () -> {
                for (int done = 0; ; done++) {
                  counter.increment();
                  if (done == 1) {
                    System.out.println("busy");
                  }
                }
              });
      thread.setUncaughtExceptionHandler((ended, e) -> {});
      thread.setDaemon(true);
      thread.start();
    }
  }
}
