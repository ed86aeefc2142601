/**
 * Diagnosis of a store and its locks: what the store guarantees, who holds and waits, and what is
 * wrong with its settings.
 */
@NullMarked
package io.fenceline.diagnosis;

import org.jspecify.annotations.NullMarked;
