/**
 * Fencing tokens over HTTP: the filter that reads them, and clients that send the current one;
 * start at {@link io.fenceline.spring.boot.http.FencingTokenClients}.
 *
 * <p>Relies on {@code fenceline-http}, and on the current lock of {@link io.fenceline.spring}.
 */
@NullMarked
package io.fenceline.spring.boot.http;

import org.jspecify.annotations.NullMarked;
