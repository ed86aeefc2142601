/**
 * How locks are written to ZooKeeper: paths ({@code Layout}), names of nodes ({@code QueueNode})
 * and their data ({@code NodeData}). Does no I/O. Not part of the API.
 */
@NullMarked
package io.fenceline.zookeeper.layout;

import org.jspecify.annotations.NullMarked;
