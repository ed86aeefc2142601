/**
 * What is said of it: tables for people, JSON for programs, plots.
 *
 * <p>Start at {@link io.fenceline.bench.report.Table}.
 */
@NullMarked
package io.fenceline.bench.report;

import org.jspecify.annotations.NullMarked;
