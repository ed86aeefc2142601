package consumer;

import io.etcd.jetcd.Client;
import io.fenceline.FencingToken;
import io.fenceline.etcd.EtcdFence;

final class Etcd implements Main.Guarded {
  private final Client client;

  Etcd(String uri) {
    client = Client.builder().endpoints(uri.replaceFirst("^etcd:", "http:")).build();
  }

  @Override
  public void write(FencingToken token) {
    EtcdFence.over(client).asFence().check("resource-" + ProcessHandle.current().pid(), token);
  }

  @Override
  public void close() {
    client.close();
  }
}
