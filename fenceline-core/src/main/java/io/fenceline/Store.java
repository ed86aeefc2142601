package io.fenceline;

/**
 * Where locks are kept: what a store's module makes of a driver that you already have, for {@link
 * FencelineBuilder#store(Store)}. Only stores look inside.
 */
public interface Store {}
