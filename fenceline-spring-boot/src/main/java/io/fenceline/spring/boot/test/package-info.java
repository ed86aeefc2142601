/**
 * Tests of locked beans without a store and without waiting; start at {@link
 * io.fenceline.spring.boot.test.FencelineTest}.
 *
 * <p>Needs {@code fenceline-testkit} and {@code spring-boot-test} among the test's dependencies.
 */
@NullMarked
package io.fenceline.spring.boot.test;

import org.jspecify.annotations.NullMarked;
