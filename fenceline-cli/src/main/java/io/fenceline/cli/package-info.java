/**
 * The {@code fenceline} command: start at {@link io.fenceline.cli.Main}.
 *
 * <p>Each subcommand is a class named after it. What they share: {@code StoreOptions} finds and
 * opens the store, {@code Failures} turns exceptions into one line and an exit code. {@code
 * io.fenceline.cli.run} runs a command under a lock; {@code io.fenceline.cli.text} writes tables
 * and JSON. Nothing here knows a store: they are found by their URI scheme.
 */
@NullMarked
package io.fenceline.cli;

import org.jspecify.annotations.NullMarked;
