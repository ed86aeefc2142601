package io.fenceline.testbed.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The extended protocol, which drivers speak and psql does not. */
class PostgresConversationTest {

  private final PostgresConversation conversation = new PostgresConversation();

  @Test
  void aRequestEndsWithSync_andShowsTheSqlOfAStatementPreparedEarlier() throws IOException {
    FrameReader client =
        reader(
            startup(),
            message('P', "s1\0SELECT ledger WHERE x = $1\0\0\0"),
            message('S', ""),
            message('B', "\0s1\0\0\0parameter"),
            message('E', "\0\0\0\0\0"),
            message('S', ""),
            message('C', "Ss1\0"),
            message('S', ""),
            message('B', "\0s1\0\0\0"),
            message('S', ""),
            message('X', ""));

    assertThat(next(client).kind()).isEqualTo("Startup");
    assertThat(next(client).request()).isNull();
    assertThat(next(client).request().text()).contains("SELECT ledger");
    assertThat(next(client).kind()).isEqualTo("Bind");
    assertThat(next(client).kind()).isEqualTo("Execute");
    FromClient sync = next(client);
    assertThat(sync.kind()).isEqualTo("Sync");
    assertThat(sync.request().text()).contains("SELECT ledger", "parameter");
    assertThat(sync.replyKey()).isEqualTo(2L);
    next(client);
    next(client);
    next(client);
    assertThat(next(client).request().text()).doesNotContain("ledger");
    assertThat(next(client).replyKey()).isNull();
    assertThat(conversation.nextFromClient(client)).isNull();
  }

  @Test
  void answersAreNumberedByReadyForQuery() throws IOException {
    FrameReader server =
        reader(
            message('R', "\0\0\0\0"),
            message('Z', "I"),
            message('1', ""),
            message('A', "\0\0\0\1channel\0news\0"),
            message('Z', "I"),
            message('E', "error"));

    assertThat(conversation.nextFromServer(server).replyKey()).isEqualTo(0L);
    assertThat(conversation.nextFromServer(server).replyKey()).isEqualTo(0L);
    assertThat(conversation.nextFromServer(server).replyKey()).isEqualTo(1L);
    assertThat(conversation.nextFromServer(server).push().text()).contains("news");
    assertThat(conversation.nextFromServer(server).replyKey()).isEqualTo(1L);
    assertThat(conversation.nextFromServer(server).replyKey()).isEqualTo(2L);
  }

  private FromClient next(FrameReader client) throws IOException {
    return conversation.nextFromClient(client);
  }

  private static byte[] startup() {
    return ByteBuffer.allocate(9).putInt(9).putInt(196608).put((byte) 0).array();
  }

  private static byte[] message(char type, String body) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(5 + bytes.length)
        .put((byte) type)
        .putInt(4 + bytes.length)
        .put(bytes)
        .array();
  }

  private static FrameReader reader(byte[]... messages) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] message : messages) {
      all.writeBytes(message);
    }
    return new FrameReader(new ByteArrayInputStream(all.toByteArray()));
  }
}
