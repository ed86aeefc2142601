/**
 * The types of settings of clients and locks, and the exception for invalid ones. Depends on no
 * other package.
 */
@NullMarked
package io.fenceline.settings;

import org.jspecify.annotations.NullMarked;
