/**
 * What a store knows of its locks, as figures: {@link io.fenceline.cli.exporter.StoreFigures} takes
 * them from the store, and {@link io.fenceline.cli.exporter.MetricsPage} serves them for
 * Prometheus.
 */
@NullMarked
package io.fenceline.cli.exporter;

import org.jspecify.annotations.NullMarked;
