/**
 * The other half of the lock: guards that refuse a stale token at the resource.
 *
 * <p>Start at {@link io.fenceline.fence.Fence}. {@link io.fenceline.fence.MemoryFence} guards what
 * lives in one process; the fences of databases and other stores are in the modules of their
 * technology. All of them keep the two marks of {@link io.fenceline.fence.FenceMarks}, and need no
 * connection to Fenceline.
 */
@NullMarked
package io.fenceline.fence;

import org.jspecify.annotations.NullMarked;
