package io.fenceline.cli;

import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** Addresses as they are mistyped, half encoded and pasted, with a canary for each secret. */
final class OddAddresses {
  private static final List<String> SCHEMES =
      List.of(
          "redis",
          "rediss",
          "redis-sentinel",
          "redis-cluster",
          "valkey",
          "valkeys",
          "valkey-sentinel",
          "redlock",
          "zookeeper",
          "etcd",
          "jdbc:postgresql",
          "jdbc:mariadb",
          "jdbc:mysql",
          "jdbc:sqlserver",
          "sqlite",
          "nosuch");
  private static final List<String> KEYS =
      List.of(
          "password",
          "Password",
          "PASSWD",
          "pwd",
          "sentinelPassword",
          "sentinelP%61ssword",
          "p%61ssword",
          "%70%61%73%73word",
          "trustStorePassword",
          "keyPassword",
          "sslpassword",
          "secret",
          "auth_token",
          "accessKey",
          "credentials");
  private static final List<String> ODD =
      List.of(
          "",
          "@",
          ":",
          "/",
          "?",
          "#",
          "&x=",
          "&",
          ";",
          "=",
          "%40",
          "%2F",
          "%",
          "%zz",
          "+",
          " ",
          "\"",
          "'",
          "\\",
          "$",
          "$1",
          "\u200f",
          "\u5bc6",
          "://",
          "//",
          "]",
          "[",
          ",",
          "*",
          "***",
          "\n",
          "\t",
          "\u001b[31m");
  private static final List<String> HARMLESS =
      List.of("", "timeout=2s", "user=app", "tls=true", "a=b;c=d", "x", "=", "&");

  /** An address, and what must never be seen of it. */
  record Odd(String address, String canary) {}

  private final Random random;

  OddAddresses(long seed) {
    this.random = new Random(seed);
  }

  Stream<Odd> stream(int count) {
    return Stream.generate(this::next).limit(count);
  }

  private Odd next() {
    // Letters on both sides of whatever is odd: no part of it is a port, or too short to be found.
    String canary = "Zq" + Integer.toHexString(random.nextInt()) + "Kw";
    String secret = canary + one(ODD) + canary + one(ODD);
    StringBuilder address = new StringBuilder(one(SCHEMES));
    address.append(chance(20) ? one(List.of(":", "/", "", " :")) : ":");
    address.append(chance(20) ? one(List.of("", "/", "///")) : "//");
    boolean inLogin = chance(50);
    if (inLogin) {
      address.append(one(List.of("", "app", "a%40b", "app:x"))).append(':').append(secret);
      address.append(chance(10) ? one(List.of("%40", " @", "@@")) : "@");
    }
    address.append(one(List.of("127.0.0.1:1", "localhost:1", "[::1]:1", "a,b:2", "h:x", "", "h")));
    address.append(one(List.of("", "/", "/0", "/orders", "/a;b=c", "/x@y")));
    if (!inLogin || chance(30)) {
      address.append(chance(10) ? one(List.of(";", "&", "??")) : "?");
      if (chance(50)) {
        address.append(one(HARMLESS)).append(one(List.of("&", "&", ";", "&&")));
      }
      address.append(one(KEYS)).append('=').append(secret);
      if (chance(30)) {
        address.append('&').append(one(HARMLESS));
      }
    }
    return new Odd(address.toString(), canary);
  }

  private boolean chance(int percent) {
    return random.nextInt(100) < percent;
  }

  private String one(List<String> list) {
    return list.get(random.nextInt(list.size()));
  }
}
