package io.fenceline.redis;

import io.fenceline.redis.connection.Topologies;
import io.fenceline.redis.redlock.RedlockSettings;
import io.fenceline.settings.Durations;
import io.fenceline.spi.StoreAddress;
import io.fenceline.spi.StoreAddress.HostPort;
import io.fenceline.spi.TlsSwitch;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.SslVerifyMode;
import java.io.File;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A Redis URI, taken apart; one of Valkey begins with valkey instead.
 *
 * <pre>
 * redis://user:secret@host:6379/0?wait=1&amp;waitTimeout=500ms
 * rediss://host:6380?tlsCa=/etc/redis/ca.pem
 * redis-sentinel://a:26379,b:26379,c:26379/0?master=orders
 * redis-cluster://a:7000,b:7001,c:7002?tls=true
 * redlock://a:6379,b:6379,c:6379?nodeTimeout=50ms
 * </pre>
 */
final class RedisAddress {
  private static final int PORT = 6379;
  private static final int SENTINEL_PORT = 26379;
  private static final Set<String> PARAMETERS =
      Set.of("wait", "waitTimeout", "master", "sentinelPassword", "tls", "tlsCa", "tlsVerify");
  private static final Set<String> REDLOCK_PARAMETERS =
      Set.of("nodeTimeout", "tls", "tlsCa", "tlsVerify");
  private static final Set<String> TLS_SCHEMES = Set.of("rediss", "valkeys");
  private static final Set<String> OF_TLS = Set.of("tlsCa", "tlsVerify");
  private static final Pattern DURATION = Pattern.compile("([0-9]{1,9})(ms|s)");

  private final StoreAddress address;
  private final Map<String, String> parameters;

  RedisAddress(StoreAddress address) {
    this.address = address;
    this.parameters = address.parameters();
    Set<String> known = address.scheme().equals("redlock") ? REDLOCK_PARAMETERS : PARAMETERS;
    address.checkParameters(known);
    if (address.hosts().isEmpty()) {
      throw address.invalid("it needs a host, such as redis://localhost:6379");
    }
  }

  RedlockStores redlock() {
    String timeout = parameters.get("nodeTimeout");
    return new RedlockStores(
        new RedlockSettings(
            plain(),
            options(),
            address.toString(),
            timeout == null
                ? RedlockStores.DEFAULT_NODE_TIMEOUT
                : Durations.checkPositive("nodeTimeout", Durations.parse("nodeTimeout", timeout))));
  }

  RedisStores locks() {
    Topologies.Kind kind =
        switch (address.scheme()) {
          case "redis-sentinel", "valkey-sentinel" -> Topologies.Kind.SENTINEL;
          case "redis-cluster", "valkey-cluster" -> Topologies.Kind.CLUSTER;
          default -> Topologies.Kind.SINGLE;
        };
    List<RedisURI> uris = kind == Topologies.Kind.SENTINEL ? List.of(sentinel()) : plain();
    if (kind == Topologies.Kind.SINGLE && uris.size() > 1) {
      throw address.invalid(
          "it names several hosts; for them use redis-sentinel: or redis-cluster:");
    }
    if (kind == Topologies.Kind.CLUSTER && uris.get(0).getDatabase() != 0) {
      throw address.invalid("a Cluster has database 0 only");
    }
    return new RedisStores(
        new Topologies.Settings(kind, uris, options(), null, address.toString()), durability());
  }

  private List<RedisURI> plain() {
    List<RedisURI> uris = new ArrayList<>();
    for (HostPort host : address.hosts()) {
      RedisURI.Builder uri =
          RedisURI.builder().withHost(host.host()).withPort(host.port().orElse(PORT));
      uris.add(common(uri));
    }
    return uris;
  }

  private RedisURI sentinel() {
    String master = parameters.get("master");
    if (master == null || master.isEmpty()) {
      throw address.invalid("it needs the name of the master, as in ?master=mymaster");
    }
    RedisURI.Builder uri = RedisURI.builder().withSentinelMasterId(master);
    String password = parameters.get("sentinelPassword");
    for (HostPort host : address.hosts()) {
      int port = host.port().orElse(SENTINEL_PORT);
      if (password == null) {
        uri.withSentinel(host.host(), port);
      } else {
        uri.withSentinel(host.host(), port, password);
      }
    }
    return common(uri);
  }

  private RedisURI common(RedisURI.Builder uri) {
    uri.withDatabase(database());
    char[] password = address.password().map(String::toCharArray).orElse(null);
    if (address.user().isPresent() && password != null) {
      uri.withAuthentication(address.user().get(), password);
    } else if (password != null) {
      uri.withPassword(password);
    } else if (address.user().isPresent()) {
      throw address.invalid("a user needs a password");
    }
    if (isTls()) {
      uri.withSsl(true).withVerifyPeer(verification());
    }
    return uri.build();
  }

  private int database() {
    String path = address.path().replaceFirst("^/", "");
    if (path.isEmpty()) {
      return 0;
    }
    if (!path.matches("[0-9]{1,5}")) {
      throw address.invalid("after the host, write only the number of the database, such as /0");
    }
    return Integer.parseInt(path);
  }

  private boolean isTls() {
    return TlsSwitch.isOn(address, TLS_SCHEMES.contains(address.scheme()), OF_TLS);
  }

  private SslVerifyMode verification() {
    return switch (parameters.getOrDefault("tlsVerify", "full").toLowerCase(Locale.ROOT)) {
      case "full" -> SslVerifyMode.FULL;
      case "ca" -> SslVerifyMode.CA;
      default -> throw address.invalid("tlsVerify must be full, or ca to allow any host name");
    };
  }

  private ClientOptions options() {
    ClientOptions.Builder options = ClientOptions.builder();
    String authority = parameters.get("tlsCa");
    if (authority != null) {
      File file = new File(authority);
      if (!file.canRead()) {
        throw address.invalid("the file of tlsCa can't be read");
      }
      options.sslOptions(SslOptions.builder().trustManager(file).build());
    }
    return options.build();
  }

  private Durability durability() {
    String replicas = parameters.get("wait");
    if (replicas == null) {
      if (parameters.containsKey("waitTimeout")) {
        throw address.invalid("waitTimeout needs wait, the number of replicas");
      }
      return Durability.NONE;
    }
    if (!replicas.matches("[0-9]{1,3}")) {
      throw address.invalid("wait must be a number of replicas");
    }
    return new Durability(Integer.parseInt(replicas), duration());
  }

  private Duration duration() {
    String given = parameters.getOrDefault("waitTimeout", "1s");
    Matcher parts = DURATION.matcher(given);
    if (!parts.matches()) {
      throw address.invalid("waitTimeout must be a duration such as 500ms or 2s");
    }
    long figure = Long.parseLong(parts.group(1));
    return parts.group(2).equals("s") ? Duration.ofSeconds(figure) : Duration.ofMillis(figure);
  }
}
