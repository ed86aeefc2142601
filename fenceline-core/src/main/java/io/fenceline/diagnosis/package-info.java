/**
 * What a store and its locks say about themselves: what it guarantees, who holds and waits, and
 * what is wrong with its settings.
 */
@NullMarked
package io.fenceline.diagnosis;

import org.jspecify.annotations.NullMarked;
