package io.fenceline.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Txn;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.fenceline.FencingToken;
import io.fenceline.fence.FenceMarks;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The transaction that lets a token pass: mark, advance and write, or tell the mark. */
final class FenceTxn {
  /*
   * Two keys: x, the largest exclusive token, and a, the largest of any mode. They have to be two,
   * since etcd compares whole values. A key that does not exist compares as false, whatever it is
   * compared with, so its absence is asked for in the other branch:
   *
   *   if mark <= token then pass else (if there is no mark then pass else tell it)
   *
   * "At most" is "less than the token followed by a zero byte".
   */
  private static final PutOption PLAIN = PutOption.DEFAULT;

  private final ByteSequence exclusiveKey;
  private final ByteSequence anyKey;
  private final FencingToken token;
  private final List<? extends Op> operations;

  FenceTxn(String key, FencingToken token, List<? extends Op> operations) {
    this.exclusiveKey = bytes(key + "!x");
    this.anyKey = bytes(key + "!a");
    this.token = token;
    this.operations = operations;
  }

  CompletableFuture<TxnResponse> commit(Txn txn) {
    return txn.If(isAtMostToken(judging())).Then(pass()).Else(passIfAbsent()).commit();
  }

  /**
   * The key of a hold.
   *
   * @param key the key
   * @param revision its create revision
   * @param ended its value once the hold was given back or taken away, and the name is kept closed:
   *     the key then stays, and so does its create revision
   */
  record Held(ByteSequence key, long revision, ByteSequence ended) {}

  /** The same inside a condition: the hold has its key. */
  CompletableFuture<TxnResponse> commitWhile(Txn txn, Held held) {
    return txn.If(
            new Cmp(held.key, Cmp.Op.EQUAL, CmpTarget.createRevision(held.revision)),
            new Cmp(held.key, Cmp.Op.NOT_EQUAL, CmpTarget.value(held.ended)))
        .Then(Op.txn(new Cmp[] {isAtMostToken(judging())}, pass(), new Op[] {passIfAbsent()}))
        .commit();
  }

  /** The mark that has refused the token, or 0 if it has passed. */
  static long refusedBy(TxnResponse response) {
    if (response.isSucceeded()) {
      return 0;
    }
    TxnResponse absent = response.getTxnResponses().get(0);
    if (absent.isSucceeded()) {
      return 0;
    }
    GetResponse mark = absent.getGetResponses().get(0);
    return Long.parseLong(mark.getKvs().get(0).getValue().toString(StandardCharsets.US_ASCII));
  }

  private ByteSequence judging() {
    return token.exclusive() ? anyKey : exclusiveKey;
  }

  private Op passIfAbsent() {
    return Op.txn(
        new Cmp[] {isAbsent(judging())}, pass(), new Op[] {Op.get(judging(), GetOption.DEFAULT)});
  }

  private Op[] pass() {
    List<Op> all = new ArrayList<>();
    ByteSequence digits = bytes(FenceMarks.digits(token.value()));
    if (token.exclusive()) {
      all.add(Op.put(exclusiveKey, digits, PLAIN));
      all.add(Op.put(anyKey, digits, PLAIN));
    } else {
      Op put = Op.put(anyKey, digits, PLAIN);
      Op putIfAbsent = Op.txn(new Cmp[] {isAbsent(anyKey)}, new Op[] {put}, new Op[0]);
      Cmp below = new Cmp(anyKey, Cmp.Op.LESS, CmpTarget.value(digits));
      all.add(Op.txn(new Cmp[] {below}, new Op[] {put}, new Op[] {putIfAbsent}));
    }
    all.addAll(operations);
    return all.toArray(Op[]::new);
  }

  private Cmp isAtMostToken(ByteSequence key) {
    ByteSequence justAbove = bytes(FenceMarks.digits(token.value()) + "\0");
    return new Cmp(key, Cmp.Op.LESS, CmpTarget.value(justAbove));
  }

  private static Cmp isAbsent(ByteSequence key) {
    return new Cmp(key, Cmp.Op.EQUAL, CmpTarget.version(0));
  }

  private static ByteSequence bytes(String text) {
    return ByteSequence.from(text, StandardCharsets.UTF_8);
  }
}
