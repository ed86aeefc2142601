package io.fenceline.bench.contender;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.util.concurrent.MoreExecutors;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;

/**
 * What a lock in etcd can't do without: a transaction that puts the key on the session's lease and
 * reads who else is there, and a delete; on the same key each time, and with no thread between the
 * caller and Netty's.
 */
final class EtcdFloor implements Contender {
  private static final int FEW = 16;
  private static final ByteSequence VALUE = ByteSequence.from(new byte[100]);

  private final Client client;
  private final KV kv;
  private final long lease;

  EtcdFloor(String address) throws Exception {
    this.client =
        JetcdLocks.builder(address)
            .executorService(MoreExecutors.newDirectExecutorService())
            .interceptor(new OnNettysThread())
            .build();
    this.kv = client.getKVClient();
    this.lease = JetcdLocks.lease(client);
  }

  @Override
  public Cycle on(String name) {
    ByteSequence prefix = ByteSequence.from("/floor/" + name + "!", UTF_8);
    ByteSequence key = ByteSequence.from("/floor/" + name + "!" + Long.toHexString(lease), UTF_8);
    PutOption onLease = PutOption.builder().withLeaseId(lease).build();
    GetOption some = GetOption.builder().isPrefix(true).withLimit(FEW).build();
    Cmp isFree = new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(0));
    return section -> {
      TxnResponse taken =
          kv.txn()
              .If(isFree)
              .Then(Op.put(key, VALUE, onLease), Op.get(prefix, some))
              .commit()
              .get();
      Floors.check(taken.isSucceeded());
      long created = taken.getGetResponses().get(0).getKvs().get(0).getCreateRevision();
      section.run(created);
      Floors.check(kv.delete(key).get().getDeleted() == 1);
    };
  }

  @Override
  public void close() {
    client.close();
  }

  static final class OnNettysThread implements ClientInterceptor {
    @Override
    public <Q, A> ClientCall<Q, A> interceptCall(
        MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
      return next.newCall(method, options.withExecutor(MoreExecutors.directExecutor()));
    }
  }
}
