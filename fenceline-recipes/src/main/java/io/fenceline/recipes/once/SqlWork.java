package io.fenceline.recipes.once;

import java.sql.Connection;

/** What a worker knows of its work, where the records are in SQL. */
public interface SqlWork extends Work {

  /**
   * Returns the transaction that the record is written in. An effect that is written by it is
   * committed together with the record, or not at all. To be neither committed nor closed by the
   * worker.
   */
  Connection connection();
}
