/**
 * Locked methods of Spring beans; start at {@link io.fenceline.spring.Locked}, or at {@link
 * io.fenceline.spring.LockTemplate} for code without proxies.
 *
 * <p>Relies on the public API of the core, and on Spring's AOP and expressions; transactions and
 * Reactor are used where the application has them.
 */
@NullMarked
package io.fenceline.spring;

import org.jspecify.annotations.NullMarked;
