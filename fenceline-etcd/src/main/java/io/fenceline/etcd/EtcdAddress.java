package io.fenceline.etcd;

import com.google.common.util.concurrent.MoreExecutors;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.fenceline.StoreUnavailableException;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreContext;
import io.fenceline.spi.TlsSwitch;
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
record EtcdAddress(StoreAddress address, String root, boolean isTls) {
  static final String DEFAULT_ROOT = "/fenceline";

  private static final int DEFAULT_PORT = 2379;
  private static final Set<String> PARAMETERS = Set.of("tls", "ca", "cert", "key");
  private static final Set<String> OF_TLS = Set.of("ca", "cert", "key");

  /** etcd closes connections that are pinged more often than each five seconds. */
  private static final Duration PING = Duration.ofSeconds(6);

  private static final Duration PING_TIMEOUT = Duration.ofSeconds(3);

  /**
   * Longer answers are refused before they are read. The longest that a sound server gives lists
   * the keys of a session, some 60 bytes each.
   */
  private static final int LONGEST_ANSWER_BYTES = 32 << 20;

  static EtcdAddress of(StoreAddress address) {
    if (address.hosts().isEmpty()) {
      throw address.invalid("name a host, such as etcd://localhost:2379");
    }
    address.checkParameters(PARAMETERS);
    if (address.parameters().containsKey("cert") != address.parameters().containsKey("key")) {
      throw address.invalid("give both cert and key, or neither");
    }
    boolean hasPassword = !address.password().orElse("").isEmpty();
    if (address.user().isPresent() != hasPassword) {
      throw address.invalid("a user needs a password");
    }
    String path = address.path();
    while (path.endsWith("/")) {
      path = path.substring(0, path.length() - 1);
    }
    boolean isTls = TlsSwitch.isOn(address, false, OF_TLS);
    return new EtcdAddress(address, path.isEmpty() ? DEFAULT_ROOT : path, isTls);
  }

  Client connect(StoreContext context) {
    ClientBuilder builder =
        Client.builder()
            .endpoints(endpoints())
            // A request that can't be sent now must fail now: later, nobody might want it any more.
            .waitForReady(false)
            .retryMaxAttempts(1)
            .maxInboundMessageSize(LONGEST_ANSWER_BYTES)
            .connectTimeout(context.connectTimeout())
            .executorService(MoreExecutors.newDirectExecutorService())
            .interceptor(new DirectAnswerInterceptor())
            .interceptor(new WatchCancelInterceptor())
            .keepaliveTime(PING)
            .keepaliveTimeout(PING_TIMEOUT)
            .keepaliveWithoutCalls(false);
    address.user().ifPresent(user -> builder.user(bytes(user)));
    address.password().ifPresent(password -> builder.password(bytes(password)));
    if (isTls) {
      builder.sslContext(tls());
    }
    return builder.build();
  }

  private List<URI> endpoints() {
    String scheme = isTls ? "https://" : "http://";
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
