package io.fenceline.spring.boot;

import io.fenceline.FencelineBuilder;

/**
 * Changes the settings of clients before they connect: of the one that is made by itself, and of
 * those that are made with the {@link FencelineBuilder} bean.
 */
@FunctionalInterface
public interface FencelineBuilderCustomizer {

  /** Changes a builder, on top of the application's properties. */
  void customize(FencelineBuilder builder);
}
