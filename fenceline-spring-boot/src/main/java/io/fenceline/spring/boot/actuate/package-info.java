/**
 * What operators see of an application's locks: the actuator endpoint, meters, and the probe of
 * health indicators; start at {@link io.fenceline.spring.boot.actuate.FencelineEndpoint}.
 *
 * <p>Relies on the clients that {@link io.fenceline.spring.boot} makes.
 */
@NullMarked
package io.fenceline.spring.boot.actuate;

import org.jspecify.annotations.NullMarked;
