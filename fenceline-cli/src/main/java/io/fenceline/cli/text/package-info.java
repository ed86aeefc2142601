/**
 * What the command prints: aligned tables for people, JSON for programs.
 *
 * <p>{@link io.fenceline.cli.text.Json} and {@link io.fenceline.cli.text.Table} know nothing of
 * locks.
 */
@NullMarked
package io.fenceline.cli.text;

import org.jspecify.annotations.NullMarked;
