package io.fenceline;

/**
 * A place where locks are kept, created by the module of a store from a driver of yours, for {@link
 * FencelineBuilder#store(Store)}. Only the module of the store uses its content.
 */
public interface Store {}
