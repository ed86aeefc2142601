package io.fenceline.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.FencingToken;
import io.fenceline.LockTimeoutException;
import io.fenceline.StaleTokenException;
import io.fenceline.StoreUnavailableException;
import io.fenceline.fence.FenceListener;
import io.fenceline.fence.MemoryFence;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spi.GrantNumbers;
import io.fenceline.testkit.fence.FenceContract;
import io.fenceline.testkit.fence.FencedCell;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tokens over HTTP, with a real server and the client of the JDK. */
class FencingTokenFilterTest extends FenceContract {
  private static final FencingToken T33 = FencingToken.exclusive(33);
  private static final FencingToken T34 = FencingToken.exclusive(34);

  private static final Map<String, FenceListener> LISTENERS = new ConcurrentHashMap<>();
  private static final MemoryFence CHECKED_BY_FILTER = new MemoryFence();

  private static final MemoryFence FEW = new MemoryFence(2);

  /** A day of 2026. */
  private static final InstantSource CLOCK =
      InstantSource.fixed(Instant.parse("2026-11-17T12:00:00Z"));

  private static Server server;
  private static HttpClient http;

  /** Keeps a text a path, and checks the token in the step that writes, if it is told to. */
  private static final class Texts extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private final transient Map<String, String> texts = new ConcurrentHashMap<>();
    private final transient Map<String, MemoryFence> fences = new ConcurrentHashMap<>();
    private final boolean checks;

    Texts(boolean checks) {
      this.checks = checks;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response)
        throws IOException {
      response.getWriter().write(texts.getOrDefault(request.getPathInfo(), ""));
    }

    @Override
    protected void doPut(HttpServletRequest request, HttpServletResponse response)
        throws IOException, ServletException {
      String path = request.getPathInfo();
      String body = new String(request.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (body.equals("written")) {
        response.setCharacterEncoding("UTF-16");
        response.getWriter().write("Half an ans");
      }
      if (body.equals("timeout") || body.equals("written")) {
        throw new ServletException(
            new LockTimeoutException(
                "ledger",
                Duration.ofSeconds(1),
                Duration.ofSeconds(1),
                "worker-7",
                34L,
                Duration.ofMillis(2_300),
                null,
                "test"));
      }
      Optional<FencingToken> token = FencingTokenFilter.token(request);
      synchronized (this) {
        if (checks && token.isPresent()) {
          fences
              .computeIfAbsent(
                  path, name -> new MemoryFence(10, LISTENERS.getOrDefault(name, event -> {})))
              .check(path, token.get());
        }
        texts.put(path, body);
      }
    }
  }

  @BeforeAll
  static void start() throws Exception {
    server = new Server();
    ServerConnector connector = new ServerConnector(server);
    connector.setHost("127.0.0.1");
    server.addConnector(connector);
    ServletContextHandler context = new ServletContextHandler();
    // The contract walks over the whole range of tokens.
    FencingTokenFilter own = FencingTokenFilter.parsing().maxToken(Long.MAX_VALUE);
    add(context, "/own/*", new Texts(true), own);
    FencingTokenFilter checking =
        FencingTokenFilter.checking(CHECKED_BY_FILTER, Resources.at("/checked/{name}"));
    add(context, "/checked/*", new Texts(false), checking);
    add(
        context,
        "/clocked/*",
        new Texts(false),
        FencingTokenFilter.checking(new MemoryFence(), Resources.at("/clocked/{name}"))
            .maxToken(FencingTokens.issuedByClock(CLOCK, Duration.ofMinutes(5)))
            .reading("PROPFIND"));
    add(
        context,
        "/known/*",
        new Texts(false),
        FencingTokenFilter.checking(
            FEW, Resources.at("/known/{name}").known(name -> name.endsWith("/real"))));
    add(context, "/optional/*", new Texts(true), FencingTokenFilter.parsing().optional());
    add(
        context,
        "/down/*",
        new Texts(false),
        FencingTokenFilter.checking(
            (resource, token) -> {
              throw new StoreUnavailableException("test", "The fence is down", null);
            },
            Resources.at("/down/{name}")));
    server.setHandler(context);
    server.start();
    http = HttpClient.newHttpClient();
  }

  private static void add(
      ServletContextHandler context, String path, Texts texts, FencingTokenFilter filter) {
    context.addServlet(new ServletHolder(texts), path);
    context.addFilter(new FilterHolder(filter), path, EnumSet.of(DispatcherType.REQUEST));
  }

  @AfterAll
  static void stop() throws Exception {
    server.stop();
  }

  private static HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path))
        .timeout(Duration.ofSeconds(60));
  }

  private static int port() {
    return ((ServerConnector) server.getConnectors()[0]).getLocalPort();
  }

  private static HttpResponse<String> send(HttpRequest.Builder request) {
    try {
      return http.send(request.build(), BodyHandlers.ofString());
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static HttpResponse<String> put(String path, String body, FencingToken token) {
    return send(FencingTokens.put(request(path).PUT(BodyPublishers.ofString(body)), token));
  }

  @Override
  protected FencedCell cell(String name, FenceListener listener) {
    LISTENERS.put("/" + name, listener);
    return new FencedCell() {
      @Override
      public void write(String value, FencingToken token) {
        HttpResponse<String> answer =
            FencingTokens.requireAccepted(put("/own/" + name, value, token), token);
        assertThat(answer.statusCode()).isEqualTo(200);
      }

      @Override
      public String read() {
        return send(request("/own/" + name).GET()).body();
      }
    };
  }

  @Test
  void staleToken_is409_withAProblem() {
    assertThat(put("/checked/ledger", "of 34", T34).statusCode()).isEqualTo(200);

    HttpResponse<String> answer = put("/checked/ledger", "of 33", T33);

    assertThat(answer.statusCode()).isEqualTo(409);
    assertThat(answer.headers().firstValue("Content-Type")).contains("application/problem+json");
    assertThat(answer.headers().firstValue("Fencing-Token-Accepted")).contains("34");
    assertThat(answer.body())
        .contains("\"type\":\"urn:fenceline:problem:stale-token\"")
        .contains("\"status\":409")
        .contains("\"resource\":\"/checked/ledger\"")
        .contains("\"offered\":\"33\"")
        .contains("\"accepted\":\"34\"");
    assertThat(send(request("/checked/ledger").GET()).body()).isEqualTo("of 34");
    assertThatThrownBy(() -> FencingTokens.requireAccepted(answer, T33))
        .isInstanceOf(StaleTokenException.class)
        .hasMessageContaining("/checked/ledger");
  }

  @Test
  void missingToken_is428_unlessOptional_andReadsNeedNone() {
    HttpResponse<String> answer =
        send(request("/checked/ledger").PUT(BodyPublishers.ofString("anything")));

    assertThat(answer.statusCode()).isEqualTo(428);
    assertThat(answer.body()).contains("token-required").contains("Fencing-Token");
    assertThat(send(request("/checked/unread").GET()).statusCode()).isEqualTo(200);
    assertThat(send(request("/optional/a").PUT(BodyPublishers.ofString("x"))).statusCode())
        .isEqualTo(200);
  }

  @Test
  void malformedTokens_are400() {
    for (String value : new String[] {"", "0", "-1", "34.0", "9223372036854775808", "34; other"}) {
      HttpResponse<String> answer =
          send(
              request("/checked/ledger")
                  .header(FencingTokens.HEADER, value)
                  .PUT(BodyPublishers.ofString("x")));
      assertThat(answer.statusCode()).as("of '%s'", value).isEqualTo(400);
    }
    HttpResponse<String> twice =
        send(
            request("/checked/ledger")
                .header(FencingTokens.HEADER, "34")
                .header(FencingTokens.HEADER, "35")
                .PUT(BodyPublishers.ofString("x")));
    assertThat(twice.statusCode()).isEqualTo(400);
  }

  /** The status of an answer to a request that the JDK's client would not send like this. */
  private static int status(String method, String path, String... headers) {
    String text =
        "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 3\r\n%s\r\nraw"
            .formatted(
                method, path, Stream.of(headers).collect(Collectors.joining("\r\n", "", "\r\n")));
    try (Socket socket = new Socket("127.0.0.1", port())) {
      socket.setSoTimeout(60_000);
      socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
      String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      return Integer.parseInt(answer.split(" ", 3)[1]);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void anotherSpellingOfAnAddress_doesNotLetAStaleTokenPass() {
    assertThat(put("/checked/spelled", "of 34", T34).statusCode()).isEqualTo(200);

    for (String spelling :
        List.of(
            "/checked/spelled",
            "/checked/%73pelled",
            "/checked/spelled;x=1",
            "/checked;x=1/spelled",
            "/checked/./spelled",
            "/checked/x/../spelled",
            "/%63hecked/spelled",
            "/checked//spelled",
            "/checked/spelled/",
            "/checked/%2e/spelled",
            "/checked/spelled%2f",
            "/checked/spelled%00",
            "/checked/spelled?x=1",
            "/checked/%2573pelled")) {
      int answer = status("PUT", spelling, "Fencing-Token: 33");
      assertThat(answer).as("of '%s'", spelling).isIn(400, 404, 409);
      assertThat(send(request("/checked/spelled").GET()).body()).isEqualTo("of 34");
    }
    assertThat(status("PUT", "/checked/%73pelled;x=1", "Fencing-Token: 35")).isEqualTo(200);
    assertThat(put("/checked/spelled", "of 34", T34).statusCode()).isEqualTo(409);
  }

  @Test
  void methodsThatAreNotKnownToRead_needAToken() {
    for (String method : List.of("POST", "MOVE", "PROPPATCH", "MKCOL", "LOCK", "FROB", "get")) {
      assertThat(status(method, "/checked/methods")).as(method).isEqualTo(428);
    }
    assertThat(status("OPTIONS", "/checked/methods")).isEqualTo(200);
    assertThat(status("PROPFIND", "/checked/methods")).isEqualTo(428);
    assertThat(status("PROPFIND", "/clocked/methods")).as("said to read").isEqualTo(501);
  }

  @Test
  void longAddress_is414_whateverTheFence() {
    assertThat(put("/checked/" + "x".repeat(191), "fits", T34).statusCode()).isEqualTo(200);
    for (String path : List.of("/checked/", "/down/", "/clocked/")) {
      HttpResponse<String> answer = put(path + "x".repeat(200), "too long", T34);
      assertThat(answer.statusCode()).isEqualTo(414);
      assertThat(answer.body()).contains("resource-too-long").contains("200 bytes");
    }
  }

  @Test
  void addressThatIsNotDeclared_is404_andRoutesAreChecked() {
    assertThat(put("/checked/a/b", "x", T34).statusCode()).isEqualTo(404);
    assertThat(put("/checked/", "x", T34).statusCode()).isEqualTo(404);
    for (String wrong : List.of("accounts", "/accounts/{id", "/a//b", "/a/{b}/..", "/a?b", "")) {
      assertThatThrownBy(() -> Resources.at(wrong))
          .as(wrong)
          .isInstanceOf(InvalidSettingException.class);
    }
  }

  @Test
  void tokenThatNoStoreCanHaveIssued_is400_andClosesNothing() {
    for (String forged :
        List.of("9223372036854775807", "9007199254740992", "9223372036854775807; shared")) {
      assertThat(status("PUT", "/checked/forged", "Fencing-Token: " + forged)).isEqualTo(400);
    }
    assertThat(put("/checked/forged", "of 33", T33).statusCode()).isEqualTo(200);

    long today = GrantNumbers.atMillis(CLOCK.millis()) << 8;
    long tomorrow = GrantNumbers.atMillis(CLOCK.millis() + 86_400_000) << 8;
    FencingToken forged = FencingToken.exclusive(tomorrow);
    assertThat(put("/clocked/forged", "x", forged).statusCode()).isEqualTo(400);
    FencingToken honest = FencingToken.exclusive(today);
    assertThat(put("/clocked/forged", "x", honest).statusCode()).isEqualTo(200);
  }

  @Test
  void oneForgedToken_closesNothingForGood() {
    // Whatever the bound is by default, an honest token of a minute later passes it.
    for (long bits = 40; bits < 63; bits++) {
      status("PUT", "/checked/closed", "Fencing-Token: " + ((1L << bits) - 1));
    }
    long soon = System.currentTimeMillis() + Duration.ofMinutes(6).toMillis();
    FencingToken honest = FencingToken.exclusive(GrantNumbers.atMillis(soon) << 8);
    assertThatCode(() -> CHECKED_BY_FILTER.check("/checked/closed", honest))
        .doesNotThrowAnyException();
  }

  @Test
  void inventedIds_raiseTheFloorOfNobody_whereTheServiceKnowsItsResources() {
    for (int i = 0; i < 5; i++) {
      assertThat(status("PUT", "/known/invented-" + i, "Fencing-Token: 4000")).isEqualTo(404);
    }
    assertThat(status("PUT", "/known/real", "Fencing-Token: 33")).isEqualTo(200);
  }

  @Test
  void handlerThatHasBegunToWrite_isOverruledAllTheSame() {
    HttpResponse<byte[]> answer;
    try {
      answer =
          http.send(
              FencingTokens.put(
                      request("/own/written").PUT(BodyPublishers.ofString("written")), T34)
                  .build(),
              BodyHandlers.ofByteArray());
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
    assertThat(answer.statusCode()).isEqualTo(409);
    assertThat(new String(answer.body(), StandardCharsets.UTF_16)).contains("lock-not-had");
  }

  @Test
  void lockThatCouldNotBeHad_is409_withRetryAfter() {
    HttpResponse<String> answer = put("/own/timeout", "timeout", T34);

    assertThat(answer.statusCode()).isEqualTo(409);
    assertThat(answer.headers().firstValue("Retry-After")).contains("3");
    assertThat(answer.body()).contains("lock-not-had").contains("\"lock\":\"ledger\"");
    // It is no stale token, though the status is the same.
    assertThatCode(() -> FencingTokens.requireAccepted(answer, T34)).doesNotThrowAnyException();
    assertThat(Problem.lockNotHad("x", Optional.empty()).headers())
        .containsEntry("Retry-After", "1");
  }

  @Test
  void fenceThatCantBeAsked_is503() {
    HttpResponse<String> answer = put("/down/ledger", "x", T34);

    assertThat(answer.statusCode()).isEqualTo(503);
    assertThat(answer.body()).contains("fence-unavailable");
    assertThat(send(request("/down/ledger").GET()).body()).isEmpty();
  }

  @Test
  void header_keepsTheToken() {
    for (FencingToken token :
        new FencingToken[] {T34, FencingToken.shared(7), FencingToken.exclusive(Long.MAX_VALUE)}) {
      assertThat(FencingTokens.parse(FencingTokens.format(token))).isEqualTo(token);
    }
    assertThat(FencingTokens.parse(" 34 ;shared")).isEqualTo(FencingToken.shared(34));
    assertThatThrownBy(() -> FencingTokens.parse("thirty"))
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("'thirty'");
  }

  @Test
  void problems_escapeWhatTheyQuote() {
    String json = Problem.staleToken(new StaleTokenException("a\"b\\c\nd\uD83D", T33, 34)).json();

    assertThat(json).contains("\"resource\":\"a\\\"b\\\\c\\u000ad\\ud83d\"");
  }
}
