/**
 * What the client takes from the machine where nothing else is handed in: clocks, timers and
 * threads ({@code SystemTime}, {@code Workers}), and random numbers ({@code SecureNumbers}). Relies
 * on {@code time} only. Not part of the API.
 */
@NullMarked
package io.fenceline.runtime.machine;

import org.jspecify.annotations.NullMarked;
