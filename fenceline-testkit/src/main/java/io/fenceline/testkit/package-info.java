/**
 * Tools for testing locks: a clock that the test controls, and the contract that every store
 * passes.
 *
 * <p>Start at {@link io.fenceline.testkit.FencelineExtension} to test code that uses locks; it
 * gives a test its own {@link io.fenceline.testkit.ManualTime}, and faults of {@code
 * io.fenceline.testkit.fault}. To test a store, extend the contract suite in {@code
 * io.fenceline.testkit.contract}; to test a fence, that in {@code io.fenceline.testkit.fence}.
 */
@NullMarked
package io.fenceline.testkit;

import org.jspecify.annotations.NullMarked;
