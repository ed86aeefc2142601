/**
 * What Spring Boot 3.5 has in other packages than Spring Boot 4: connection details, health, and
 * the customizers of HTTP clients. All else is in {@code io.fenceline.spring.boot}.
 */
@NullMarked
package io.fenceline.spring.boot3;

import org.jspecify.annotations.NullMarked;
