package io.fenceline.bench.contender;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;

/**
 * What a lock in etcd can't do without: a transaction that puts the key on the session's lease and
 * reads who is first, and one that compares and deletes; on the same key each time.
 */
final class EtcdFloor implements Contender {
  private static final ByteSequence VALUE = ByteSequence.from(new byte[100]);

  private final Client client;
  private final KV kv;
  private final long lease;

  EtcdFloor(String address) throws Exception {
    this.client = JetcdLocks.connect(address);
    this.kv = client.getKVClient();
    this.lease = JetcdLocks.lease(client);
  }

  @Override
  public Cycle on(String name) {
    ByteSequence prefix = ByteSequence.from("/floor/" + name + "!", UTF_8);
    ByteSequence key = ByteSequence.from("/floor/" + name + "!" + Long.toHexString(lease), UTF_8);
    PutOption onLease = PutOption.builder().withLeaseId(lease).build();
    GetOption first =
        GetOption.builder()
            .isPrefix(true)
            .withSortField(GetOption.SortTarget.CREATE)
            .withSortOrder(GetOption.SortOrder.ASCEND)
            .withLimit(1)
            .build();
    Cmp isFree = new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(0));
    return section -> {
      TxnResponse taken =
          kv.txn()
              .If(isFree)
              .Then(Op.put(key, VALUE, onLease), Op.get(prefix, first))
              .commit()
              .get();
      Floors.check(taken.isSucceeded());
      long created = taken.getGetResponses().get(0).getKvs().get(0).getCreateRevision();
      section.run(created);
      Cmp isOurs = new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(created));
      Floors.check(
          kv.txn()
              .If(isOurs)
              .Then(Op.delete(key, DeleteOption.DEFAULT))
              .commit()
              .get()
              .isSucceeded());
    };
  }

  @Override
  public void close() {
    client.close();
  }
}
