package io.fenceline.testbed.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The frames of ZooKeeper, between two ends that the test plays. */
class ZooKeeperProxyTest {

  private static final int CREATE2 = 15;
  private static final int PING = 11;
  private static final int GET_CHILDREN = 8;

  private ServerSocket listener;
  private FaultProxy proxy;
  private Socket client;
  private Socket server;

  @BeforeEach
  void connect() throws IOException {
    listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    proxy = FaultProxy.to("127.0.0.1", listener.getLocalPort(), Protocol.ZOOKEEPER);
    client = new Socket(proxy.host(), proxy.port());
    server = listener.accept();
    client.setSoTimeout(10_000);
    server.setSoTimeout(10_000);
  }

  @AfterEach
  void close() throws IOException {
    client.close();
    server.close();
    proxy.close();
    listener.close();
  }

  @Test
  void repliesBelongToRequestsByTheirNumber_andEventsToNone() throws IOException {
    Fault cut = proxy.cutBeforeReply(Trigger.first(request -> request.contains("/locks/a")));
    Fault lost = proxy.dropPush(push -> push.contains("/gone"));
    send(client, new byte[44]); // a connect request has no header
    send(server, new byte[37]);
    send(client, request(-2, PING, ""));
    send(client, request(1, CREATE2, "/locks/a"));
    send(client, request(2, GET_CHILDREN, "/locks"));
    for (int i = 0; i < 4; i++) {
      receive(server);
    }
    assertThat(proxy.counts())
        .containsEntry("connect", 1L)
        .containsEntry("ping", 1L)
        .containsEntry("create2", 1L)
        .containsEntry("getChildren", 1L);

    send(server, reply(-1, "/gone"));
    send(server, reply(-1, "/seen"));
    send(server, reply(2, "children"));
    send(server, reply(-2, ""));
    send(server, reply(1, "created"));

    assertThat(receive(client)).hasSize(37);
    assertThat(text(receive(client))).endsWith("/seen");
    assertThat(text(receive(client))).endsWith("children");
    assertThat(receive(client)).hasSize(16);
    assertThatThrownBy(() -> receive(client)).isInstanceOf(SocketException.class);
    assertThat(lost.timesApplied()).isEqualTo(1);
    assertThat(cut.timesApplied()).isEqualTo(1);
  }

  @Test
  void fourLetterWordsPass() throws IOException {
    client.getOutputStream().write("ruok".getBytes(StandardCharsets.US_ASCII));
    assertThat(text(server.getInputStream().readNBytes(4))).isEqualTo("ruok");
    server.getOutputStream().write("imok".getBytes(StandardCharsets.US_ASCII));
    server.close();
    assertThat(text(client.getInputStream().readAllBytes())).isEqualTo("imok");
  }

  private static byte[] request(int number, int operation, String path) {
    byte[] bytes = path.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(8 + bytes.length)
        .putInt(number)
        .putInt(operation)
        .put(bytes)
        .array();
  }

  private static byte[] reply(int number, String body) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(16 + bytes.length)
        .putInt(number)
        .putLong(7)
        .putInt(0)
        .put(bytes)
        .array();
  }

  private static void send(Socket socket, byte[] body) throws IOException {
    DataOutputStream out = new DataOutputStream(socket.getOutputStream());
    out.write(ByteBuffer.allocate(4 + body.length).putInt(body.length).put(body).array());
  }

  private static byte[] receive(Socket socket) throws IOException {
    DataInputStream in = new DataInputStream(socket.getInputStream());
    return in.readNBytes(in.readInt());
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
