package io.fenceline.jdbc;

import io.fenceline.diagnosis.Guarantees;
import io.fenceline.jdbc.connection.Connections;
import io.fenceline.jdbc.connection.Failures;
import io.fenceline.jdbc.diagnostics.Diagnostics;
import io.fenceline.jdbc.sql.Dialect;
import io.fenceline.jdbc.sql.Statements;

/**
 * A database that was found to be usable for locks.
 *
 * @param description of the store, without secrets
 * @param guarantees what is promised with its settings
 */
record OpenDatabase(
    String description,
    Guarantees guarantees,
    Dialect dialect,
    Statements statements,
    Connections connections,
    Failures failures,
    Diagnostics diagnostics) {}
