package io.fenceline.testbed.proxy;

/** Any protocol: what arrives together is a message; the next bytes back count as its reply. */
final class BytesConversation extends Conversation {

  BytesConversation() {
    becomeOpaque();
  }

  @Override
  FromClient readFromClient(int first, FrameReader in) {
    throw new AssertionError("opaque from the start");
  }

  @Override
  FromServer readFromServer(int first, FrameReader in) {
    throw new AssertionError("opaque from the start");
  }
}
