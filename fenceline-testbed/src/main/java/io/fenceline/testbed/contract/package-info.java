/**
 * What our own stores show beside the contract of the testkit, with real servers and proxies.
 *
 * <p>Start at {@link io.fenceline.testbed.contract.GivenClientContract}; {@link
 * io.fenceline.testbed.contract.ErrorText} is a row of a store's table of errors.
 */
@NullMarked
package io.fenceline.testbed.contract;

import org.jspecify.annotations.NullMarked;
