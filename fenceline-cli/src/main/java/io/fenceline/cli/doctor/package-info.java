/**
 * Looks over the store and this machine: start at {@link io.fenceline.cli.doctor.Examination}.
 *
 * <p>What only a store knows of itself comes from {@link io.fenceline.Fenceline#diagnose()}; what
 * any client can measure is measured here.
 */
@NullMarked
package io.fenceline.cli.doctor;

import org.jspecify.annotations.NullMarked;
