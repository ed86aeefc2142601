/** How a command ends: exit codes, and exceptions turned into one line that says what to do. */
@NullMarked
package io.fenceline.cli.failure;

import org.jspecify.annotations.NullMarked;
