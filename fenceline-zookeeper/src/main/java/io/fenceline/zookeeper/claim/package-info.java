/**
 * The way of a claim. Start at {@code Claim}, and read it from top to bottom: it creates a node
 * ({@code ClaimRequests}), lists the queue ({@code QueueReader}) unless nobody else uses the name
 * ({@code FastPath}), and is granted, refused, or waits for its predecessors ({@code LockQueue}).
 * Relies on {@code session} and {@code layout}. Not part of the API.
 */
@NullMarked
package io.fenceline.zookeeper.claim;

import org.jspecify.annotations.NullMarked;
