package io.fenceline.jdbc;

import io.fenceline.Finding;

/** What a setting of the database means for locks. */
final class Diagnosis {
  private Diagnosis() {}

  static Finding of(String title, String item, String value) {
    String found = item + " = " + (value.isEmpty() ? "(none)" : value);
    return switch (item) {
      case "version" -> Finding.ok("version", title + " " + value, "answers");
      case "fsync", "full_page_writes" ->
          value.equals("on")
              ? Finding.ok(item, found, "a crash of the machine forgets no grant")
              : Finding.serious(
                  item,
                  found,
                  "a crash of the machine may forget grants that were answered",
                  "set it to on");
      case "innodb_flush_log_at_trx_commit" ->
          value.equals("1")
              ? Finding.ok(item, found, "a crash of the server forgets no grant")
              : Finding.serious(
                  item,
                  found,
                  "a crash may forget the grants of the last second, and give a lock twice",
                  "set it to 1; it can't be set for our statements alone");
      case "synchronous_standby_names" ->
          value.isEmpty()
              ? Finding.note(
                  item,
                  found,
                  "a standby that is promoted may lack the last grants; tokens still rise as long"
                      + " as its clock is not behind",
                  "name a synchronous standby if you fail over, or guard writes with a fence")
              : Finding.ok(item, found, "a promoted standby has all grants");
      case "journal_mode" ->
          value.equalsIgnoreCase("wal")
              ? Finding.ok(item, found, "those who look do not wait for those who write")
              : Finding.note(
                  item,
                  found,
                  "readers and writers wait for each other",
                  "use a local file system");
      default -> Finding.note(item, found, "", "");
    };
  }
}
