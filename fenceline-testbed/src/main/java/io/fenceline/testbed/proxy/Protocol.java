package io.fenceline.testbed.proxy;

/** What the proxy understands of the bytes that go through it. */
public enum Protocol {
  /** Redis. Requests are counted by command in upper case. */
  RESP,
  /** PostgreSQL. Messages are counted by type; requests end in {@code Query} or {@code Sync}. */
  POSTGRES,
  /** MariaDB. Requests are counted by command, such as {@code Query}, {@code StmtExecute}. */
  MYSQL,
  /** ZooKeeper. Requests are counted by operation, such as {@code create2}. */
  ZOOKEEPER,
  /** gRPC without TLS. Frames are counted by type; requests are {@code DATA} of one stream. */
  HTTP2,
  /** Anything. What arrives together is a request, and the next bytes back are its reply. */
  BYTES;

  Conversation newConversation() {
    return switch (this) {
      case RESP -> new RespConversation();
      case POSTGRES -> new PostgresConversation();
      case MYSQL -> new MySqlConversation();
      case ZOOKEEPER -> new ZooKeeperConversation();
      case HTTP2 -> new Http2Conversation();
      case BYTES -> new BytesConversation();
    };
  }
}
