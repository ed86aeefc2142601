/**
 * How locks are written to Redis: keys ({@code Layout}), the scripts that decide ({@code Script},
 * and the files beside it in the resources; begin with {@code claim.lua} and {@code table.lua}),
 * calls of them ({@code Call}) and what they answer ({@code Answers}). Does no I/O. Not part of the
 * API.
 */
@NullMarked
package io.fenceline.redis.layout;

import org.jspecify.annotations.NullMarked;
