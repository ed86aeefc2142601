/**
 * How {@code RedisFence} calls scripts that begin with the check of a token, over a connection of
 * the user's. Needs nothing of the locks. Start at {@code FenceCalls}. Not part of the API.
 */
@NullMarked
package io.fenceline.redis.fence;

import org.jspecify.annotations.NullMarked;
