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
import org.jspecify.annotations.Nullable;

/** The transaction that lets a token pass: mark, advance and write, or tell the mark. */
final class FenceTxn {
  /*
   * Two keys: x, the largest exclusive token, and a, the largest of any mode. They have to be two,
   * since etcd compares whole values. A key that does not exist compares as false, whatever it is
   * compared with, so its absence is asked for in the other branch:
   *
   *   if mark <= token then pass else (if there is no mark then pass else tell it)
   *
   * "At most" is "less than the mark's text followed by a zero byte".
   *
   * The marks of an exclusive token also say after how many unanswered writes it was written. A
   * write that its caller has given up may still be on its way, in gRPC or in etcd, and nothing
   * takes it back: jetcd does not cancel a call, and etcd does what it has once accepted. But
   * whatever the caller writes next has a larger number, and so the late one is refused. Another
   * process with the same token may be refused by that number, too; it goes on from there.
   */
  private static final PutOption PLAIN = PutOption.DEFAULT;

  private final ByteSequence exclusiveKey;
  private final ByteSequence anyKey;
  private final FencingToken token;
  private final Mark mark;
  private final List<? extends Op> operations;

  /**
   * What is remembered of a token that has passed.
   *
   * @param token the token
   * @param unanswered how many writes had no answer before this one; 0 for a shared token
   */
  record Mark(long token, long unanswered) {
    /** Texts of one width, so that they compare like the numbers, the token first. */
    String text() {
      String digits = FenceMarks.digits(token);
      return unanswered == 0 ? digits : digits + "." + FenceMarks.digits(unanswered);
    }

    static Mark parse(String text) {
      int dot = text.indexOf('.');
      return dot < 0
          ? new Mark(Long.parseLong(text), 0)
          : new Mark(
              Long.parseLong(text, 0, dot, 10), Long.parseLong(text, dot + 1, text.length(), 10));
    }
  }

  FenceTxn(String key, FencingToken token, long unanswered, List<? extends Op> operations) {
    this.exclusiveKey = bytes(key + "!x");
    this.anyKey = bytes(key + "!a");
    this.token = token;
    this.mark = new Mark(token.value(), token.exclusive() ? unanswered : 0);
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

  /** The mark that has refused the token, or null if it has passed. */
  static @Nullable Mark refusedBy(TxnResponse response) {
    if (response.isSucceeded()) {
      return null;
    }
    TxnResponse absent = response.getTxnResponses().get(0);
    if (absent.isSucceeded()) {
      return null;
    }
    GetResponse found = absent.getGetResponses().get(0);
    return Mark.parse(found.getKvs().get(0).getValue().toString(StandardCharsets.US_ASCII));
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
    ByteSequence text = bytes(mark.text());
    if (token.exclusive()) {
      all.add(Op.put(exclusiveKey, text, PLAIN));
      all.add(Op.put(anyKey, text, PLAIN));
    } else {
      Op put = Op.put(anyKey, text, PLAIN);
      Op putIfAbsent = Op.txn(new Cmp[] {isAbsent(anyKey)}, new Op[] {put}, new Op[0]);
      Cmp below = new Cmp(anyKey, Cmp.Op.LESS, CmpTarget.value(text));
      all.add(Op.txn(new Cmp[] {below}, new Op[] {put}, new Op[] {putIfAbsent}));
    }
    all.addAll(operations);
    return all.toArray(Op[]::new);
  }

  /** For a shared token, a mark of the same number passes whatever follows it. */
  private Cmp isAtMostToken(ByteSequence key) {
    ByteSequence justAbove = bytes(mark.text() + (token.exclusive() ? "\0" : "/"));
    return new Cmp(key, Cmp.Op.LESS, CmpTarget.value(justAbove));
  }

  private static Cmp isAbsent(ByteSequence key) {
    return new Cmp(key, Cmp.Op.EQUAL, CmpTarget.version(0));
  }

  private static ByteSequence bytes(String text) {
    return ByteSequence.from(text, StandardCharsets.UTF_8);
  }
}
