/** Fencing tokens over HTTP; start at {@link io.fenceline.http.FencingTokens}. */
module io.fenceline.http {
  requires transitive io.fenceline;
  requires transitive java.net.http;
  requires static transitive jakarta.servlet;
  requires static org.jspecify;

  exports io.fenceline.http;
}
