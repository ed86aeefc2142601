package io.fenceline.testbed.server;

import io.fenceline.testbed.process.Debian;

/** Whose server it is. */
public enum RedisKind {
  /** Debian's. */
  REDIS("redis"),
  /** Of Debian's backports. */
  VALKEY("valkey");

  private final String scheme;

  RedisKind(String scheme) {
    this.scheme = scheme;
  }

  /** How addresses begin, such as {@code redis}; also how the programs' names do. */
  public String scheme() {
    return scheme;
  }

  String server() {
    return Debian.program(scheme + "-server", scheme + "-server");
  }

  String client() {
    return Debian.program(scheme + "-cli", scheme + "-tools");
  }
}
