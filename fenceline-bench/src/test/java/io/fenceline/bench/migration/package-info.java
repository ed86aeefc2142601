/**
 * Typical programs of other libraries, and the same with Fenceline: what docs/migration.md shows.
 */
@NullMarked
package io.fenceline.bench.migration;

import org.jspecify.annotations.NullMarked;
