package io.fenceline.etcd;

import com.google.common.util.concurrent.MoreExecutors;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreContext;
import io.grpc.netty.GrpcSslContexts;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.File;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** An address of etcd, and how a client of it is made. */
record EtcdAddress(StoreAddress address, String root) {
  static final String DEFAULT_ROOT = "/fenceline";

  private static final int DEFAULT_PORT = 2379;
  private static final Set<String> PARAMETERS = Set.of("tls", "ca", "cert", "key");

  /** etcd closes connections that are pinged more often than each five seconds. */
  private static final Duration PING = Duration.ofSeconds(6);

  private static final Duration PING_TIMEOUT = Duration.ofSeconds(3);

  static EtcdAddress of(StoreAddress address) {
    if (address.hosts().isEmpty()) {
      throw address.invalid("name a host, such as etcd://localhost:2379");
    }
    for (String parameter : address.parameters().keySet()) {
      if (!PARAMETERS.contains(parameter)) {
        throw address.invalid("'" + parameter + "' is not one of tls, ca, cert, key");
      }
    }
    String tls = address.parameters().getOrDefault("tls", "true");
    if (!tls.equals("true") && !tls.equals("false")) {
      throw address.invalid("tls must be true or false");
    }
    if (address.parameters().containsKey("cert") != address.parameters().containsKey("key")) {
      throw address.invalid("cert and key belong together");
    }
    if (address.user().isPresent() != address.password().isPresent()) {
      throw address.invalid("a user needs a password");
    }
    String path = address.path();
    while (path.endsWith("/")) {
      path = path.substring(0, path.length() - 1);
    }
    return new EtcdAddress(address, path.isEmpty() ? DEFAULT_ROOT : path);
  }

  private boolean isTls() {
    return !address.parameters().isEmpty() && !"false".equals(address.parameters().get("tls"));
  }

  Client connect(StoreContext context) {
    ClientBuilder builder =
        Client.builder()
            .endpoints(endpoints())
            // A request that can't be sent now must fail now: later, nobody might want it any more.
            .waitForReady(false)
            .retryMaxAttempts(1)
            .connectTimeout(context.connectTimeout())
            .executorService(MoreExecutors.newDirectExecutorService())
            .interceptor(new AnsweredByNetty())
            .keepaliveTime(PING)
            .keepaliveTimeout(PING_TIMEOUT)
            .keepaliveWithoutCalls(false);
    address.user().ifPresent(user -> builder.user(bytes(user)));
    address.password().ifPresent(password -> builder.password(bytes(password)));
    if (isTls()) {
      builder.sslContext(tls());
    }
    return builder.build();
  }

  private List<URI> endpoints() {
    String scheme = isTls() ? "https://" : "http://";
    return address.hosts().stream()
        .map(
            host ->
                URI.create(
                    scheme
                        + new StoreAddress.HostPort(
                            host.host(), Optional.of(host.port().orElse(DEFAULT_PORT)))))
        .toList();
  }

  private SslContext tls() {
    try {
      SslContextBuilder builder = GrpcSslContexts.forClient();
      File authority = file("ca");
      if (authority != null) {
        builder.trustManager(authority);
      }
      File certificate = file("cert");
      File key = file("key");
      if (certificate != null && key != null) {
        builder.keyManager(certificate, key);
      }
      return builder.build();
    } catch (SSLException | IllegalArgumentException e) {
      throw new StoreUnavailableException(
          address.toString(), "The certificates could not be used: " + e.getMessage(), e);
    }
  }

  private @Nullable File file(String parameter) {
    String path = address.parameters().get(parameter);
    return path == null ? null : new File(path);
  }

  private static ByteSequence bytes(String text) {
    return ByteSequence.from(text, StandardCharsets.UTF_8);
  }
}
