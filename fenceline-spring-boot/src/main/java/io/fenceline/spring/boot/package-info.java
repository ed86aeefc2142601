/**
 * Auto-configuration of Fenceline in Spring Boot; start at {@link
 * io.fenceline.spring.boot.FencelineAutoConfiguration}.
 *
 * <p>What is the same in Boot 4 and 3.5 is here; what has moved between them is in {@code
 * io.fenceline.spring.boot4}, and in a starter of its own for 3.5.
 */
@NullMarked
package io.fenceline.spring.boot;

import org.jspecify.annotations.NullMarked;
