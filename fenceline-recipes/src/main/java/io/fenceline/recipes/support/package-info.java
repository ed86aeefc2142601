/**
 * What several recipes share and no user sees: the texts of scripts and statements, and how a
 * script is run.
 */
@NullMarked
package io.fenceline.recipes.support;

import org.jspecify.annotations.NullMarked;
