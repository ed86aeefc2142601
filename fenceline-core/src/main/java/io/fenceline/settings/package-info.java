/**
 * What the settings of clients and locks are made of, and the exception for one that can't be used.
 * Depends on nothing else.
 */
@NullMarked
package io.fenceline.settings;

import org.jspecify.annotations.NullMarked;
