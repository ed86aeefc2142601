/**
 * What Spring Boot 4 has in other packages than Spring Boot 3.5: connection details, health, and
 * the customizers of HTTP clients.
 */
@NullMarked
package io.fenceline.spring.boot4;

import org.jspecify.annotations.NullMarked;
