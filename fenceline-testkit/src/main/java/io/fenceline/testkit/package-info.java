/**
 * What one needs to test locks: a time that the test owns, and the contract that every store
 * passes.
 *
 * <p>Start at {@link io.fenceline.testkit.FencelineExtension} to test code that uses locks; it
 * gives a test its own {@link io.fenceline.testkit.ManualTime}. To test a store, extend the
 * contract suite in {@code io.fenceline.testkit.contract}. Real servers and faults between them and
 * a client are in {@code io.fenceline.testkit.server} and {@code io.fenceline.testkit.proxy}.
 */
@NullMarked
package io.fenceline.testkit;

import org.jspecify.annotations.NullMarked;
