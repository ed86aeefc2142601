/**
 * Redlock: locks on independent servers, of which a majority decides. Start at {@code
 * RedlockClaim}; a {@code Ballot} is one attempt, two {@code Round}s at all {@code Nodes}, and
 * {@code Recovery} lets nodes that have lost their memory vote again. The scripts begin with {@code
 * redlock-name.lua}. Relies on {@code connection}, {@code layout} and {@code diagnostics}. Not part
 * of the API.
 */
@NullMarked
package io.fenceline.redis.redlock;

import org.jspecify.annotations.NullMarked;
