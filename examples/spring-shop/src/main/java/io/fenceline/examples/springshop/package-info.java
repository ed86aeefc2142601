/** A shop on Spring Boot; start at {@link io.fenceline.examples.springshop.Story}. */
@NullMarked
package io.fenceline.examples.springshop;

import org.jspecify.annotations.NullMarked;
