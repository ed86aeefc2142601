package starter;

import io.fenceline.FencingToken;
import io.fenceline.spring.Locked;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** An application with the starter and nothing else, on each of the given stores. */
@SpringBootApplication
public class Main {

  public static class Orders {
    @Locked("order:#{#id}")
    public long pay(long id, FencingToken token) {
      return token.value();
    }
  }

  @Bean
  Orders orders() {
    return new Orders();
  }

  public static void main(String[] addresses) {
    for (String address : addresses) {
      String kind = address.substring(0, address.indexOf('='));
      SpringApplication application = new SpringApplication(Main.class);
      application.setDefaultProperties(
          Map.of(
              "fenceline.store", address.substring(kind.length() + 1),
              "spring.main.banner-mode", "off",
              "logging.level.root", "warn"));
      try (var context = application.run()) {
        Orders orders = context.getBean(Orders.class);
        if (orders.pay(7, null) < orders.pay(7, null)) {
          System.out.println("ok " + kind);
        }
      }
    }
  }
}
