/**
 * What every fence must do, and the history of many writers at one.
 *
 * <p>Start at {@link io.fenceline.testkit.fence.FenceContract}: a fence joins by extending it with
 * a {@link io.fenceline.testkit.fence.FencedCell}.
 */
@NullMarked
package io.fenceline.testkit.fence;

import org.jspecify.annotations.NullMarked;
