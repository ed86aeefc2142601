/**
 * The other half of the lock: guards that refuse a stale token at the resource.
 *
 * <p>Start at {@link io.fenceline.fence.Fence}. {@link io.fenceline.fence.MemoryFence} guards what
 * lives in one process, {@link io.fenceline.fence.FencedFile} a file of one machine; the fences of
 * databases and other stores are in the modules of their technology. All of them keep the two marks
 * of {@link io.fenceline.fence.FenceMarks}, tell what they decide by {@link
 * io.fenceline.fence.FenceNotices}, and need no connection to Fenceline.
 */
@NullMarked
package io.fenceline.fence;

import org.jspecify.annotations.NullMarked;
