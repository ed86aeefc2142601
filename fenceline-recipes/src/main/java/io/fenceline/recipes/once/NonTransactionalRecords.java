package io.fenceline.recipes.once;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** Records of work whose effect is elsewhere: nothing is open while a worker works. */
final class NonTransactionalRecords extends OnceRecords<Work> {
  private final OnceRecords<?> records;

  NonTransactionalRecords(OnceRecords<?> records) {
    this.records = records;
  }

  @Override
  String kind() {
    return records.kind();
  }

  @Override
  Optional<Entry> find(String name) {
    return records.find(name);
  }

  @Override
  Entry begin(
      String name, String fingerprint, long token, String worker, boolean rerun, Instant now) {
    return records.begin(name, fingerprint, token, worker, rerun, now);
  }

  @Override
  boolean finish(String name, long token, long by, Outcome outcome, Instant now) {
    return records.finish(name, token, by, outcome, now);
  }

  @Override
  boolean clear(String name, long token) {
    return records.clear(name, token);
  }

  @Override
  boolean sweep(String kind, Duration retention, Instant now) {
    return records.sweep(kind, retention, now);
  }

  @Override
  Session<Work> open(Work plain) {
    return plain(records, plain);
  }
}
