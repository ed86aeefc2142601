/**
 * Leader election: candidates campaign in the background, and the elected one gets a {@link
 * io.fenceline.recipes.election.Leadership} with its term, the fencing token.
 *
 * <p>Start at {@link io.fenceline.recipes.election.Election}. {@code Campaign} is the life of one
 * candidate, {@code Term} one leadership from the grant to the release. Relies on {@code
 * io.fenceline}, and on any of its stores.
 */
@NullMarked
package io.fenceline.recipes.election;

import org.jspecify.annotations.NullMarked;
