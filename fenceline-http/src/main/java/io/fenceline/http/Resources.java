package io.fenceline.http;

import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Names what a request writes to: a fence remembers tokens under this name.
 *
 * <pre>{@code
 * Resources routes = Resources.at("/accounts/{id}", "/accounts/{id}/statements/{month}");
 * Resources existing = Resources.at("/accounts/{id}").known(accounts::exists);
 * Resources looked = request -> accounts.find(request.getPathInfo()).map(Account::fenceName);
 * }</pre>
 *
 * <p>One thing has one name, however a client spells its address; otherwise a stale token passes
 * with another spelling. And a client does not get to make names up: for each new one a fence keeps
 * something. A variable of a route is still the client's choice; where clients are not trusted with
 * it, look the thing up, and name only what is there ({@link #known}). A framework that leads
 * several paths to one thing (by suffixes, or in whatever case) needs such a function, too.
 */
@FunctionalInterface
public interface Resources {

  /**
   * Returns the name of what a request writes to, 1 to 200 bytes of UTF-8 without controls; empty
   * if it is nothing that this service knows, which is answered with 404.
   */
  Optional<String> of(HttpServletRequest request);

  /**
   * Resources with an address of one of these forms, named by it.
   *
   * <p>Literal parts are compared as they are; a variable is one part of a path, of ASCII letters,
   * digits and {@code - . _ ~}. What is compared is the path as the container gives it to servlets:
   * decoded, without parameters, with dots resolved. A path that fits no route has no name, an
   * empty part or an escaped slash included.
   *
   * @param routes such as {@code /accounts/{id}}, below the path of the web application
   */
  static Resources at(String... routes) {
    List<Route> declared = Stream.of(routes).map(Route::parse).toList();
    if (declared.isEmpty()) {
      throw new IllegalArgumentException("declare a route, such as /accounts/{id}");
    }
    return request -> {
      String path = Objects.requireNonNullElse(request.getServletPath(), "");
      String rest = Objects.requireNonNullElse(request.getPathInfo(), "");
      String asked = path + rest;
      return declared.stream().anyMatch(route -> route.matches(asked))
          ? Optional.of(request.getServletContext().getContextPath() + asked)
          : Optional.empty();
    };
  }

  /**
   * Those of these resources that exist; the others are answered with 404, and no fence hears of
   * them.
   *
   * @param exists told the name of a resource, on the thread of each request that writes
   */
  default Resources known(Predicate<String> exists) {
    Objects.requireNonNull(exists, "exists");
    return request -> of(request).filter(exists);
  }
}
