/**
 * Fences: the other half of the lock, which refuses stale tokens at the resource.
 *
 * <p>Start at {@link io.fenceline.fence.Fence}. {@link io.fenceline.fence.MemoryFence} guards a
 * resource of one process, {@link io.fenceline.fence.FencedFile} a file of one machine; the fences
 * of databases and other stores are in the modules of their technology. All of them keep the two
 * marks of {@link io.fenceline.fence.FenceMarks}, report their decisions with {@link
 * io.fenceline.fence.FenceNotices}, and need no {@link io.fenceline.Fenceline} client.
 */
@NullMarked
package io.fenceline.fence;

import org.jspecify.annotations.NullMarked;
