package io.fenceline.spring.boot.processes;

import com.sun.management.OperatingSystemMXBean;
import io.fenceline.spring.Locked;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Starts an application with the given arguments again and again, with and without Fenceline, and
 * prints the medians of the processor time: {@code StartUpCost 21
 * --fenceline.store=redis://localhost}.
 */
public final class StartUpCost {

  /** Processor time: what others do on the machine is not counted. */
  private static final OperatingSystemMXBean PROCESS =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private StartUpCost() {}

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration(
      excludeName =
          "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration")
  static class App {
    @Bean
    Work work() {
      return new Work();
    }
  }

  static class Work {
    @Locked("work:#{#id}")
    public void run(long id) {}
  }

  /** Prints both medians. */
  public static void main(String[] arguments) {
    List<Long> with = new ArrayList<>();
    List<Long> without = new ArrayList<>();
    int rounds = Integer.parseInt(arguments[0]);
    for (int i = 0; i < rounds; i++) {
      without.add(start(arguments, false));
      with.add(start(arguments, true));
    }
    System.out.printf(
        "without %d ms, with Fenceline %d ms (processor time, medians of %d starts in one JVM)%n",
        median(without), median(with), rounds);
  }

  private static long median(List<Long> millis) {
    Collections.sort(millis);
    return millis.get(millis.size() / 2);
  }

  private static long start(String[] arguments, boolean fenceline) {
    SpringApplication application = new SpringApplication(App.class);
    application.setWebApplicationType(WebApplicationType.NONE);
    List<String> all = new ArrayList<>(List.of(arguments).subList(1, arguments.length));
    all.add("--spring.main.banner-mode=off");
    all.add("--logging.level.root=warn");
    if (!fenceline) {
      all.add(
          "--spring.autoconfigure.exclude="
              + String.join(
                  ",",
                  "io.fenceline.spring.boot.FencelineAutoConfiguration",
                  "io.fenceline.spring.boot.FencelineJdbcAutoConfiguration",
                  "io.fenceline.spring.boot.actuate.FencelineMetricsAutoConfiguration",
                  "io.fenceline.spring.boot.actuate.FencelineEndpointAutoConfiguration",
                  "io.fenceline.spring.boot4.Boot4RedisAutoConfiguration",
                  "io.fenceline.spring.boot4.Boot4HealthAutoConfiguration"));
    }
    long before = PROCESS.getProcessCpuTime();
    var context = application.run(all.toArray(String[]::new));
    long millis = (PROCESS.getProcessCpuTime() - before) / 1_000_000;
    context.close();
    return millis;
  }
}
