package io.fenceline.examples.springshop;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.scheduling.annotation.EnableScheduling;

/** One instance of the shop; prints its port when it is ready. */
@SpringBootApplication
@EnableScheduling
public class SpringShop {

  /** Called by Spring. */
  public SpringShop() {}

  /** Starts an instance. */
  public static void main(String[] arguments) {
    var context = new SpringApplicationBuilder(SpringShop.class).run(arguments);
    System.out.println("port " + context.getEnvironment().getProperty("local.server.port"));
  }
}
