/**
 * The way of a claim, from the request to the grant, and how grants are renewed. Start at {@code
 * Claim}. Relies on {@code connection} and {@code layout}. Not part of the API.
 */
@NullMarked
package io.fenceline.redis.claim;

import org.jspecify.annotations.NullMarked;
