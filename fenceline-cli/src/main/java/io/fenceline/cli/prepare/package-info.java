/**
 * What {@code lib/prepare.sh} runs once on each machine, so that the JVM can keep the classes that
 * the tool needs. Start at {@link io.fenceline.cli.prepare.Training}; nothing else uses it.
 */
@NullMarked
package io.fenceline.cli.prepare;

import org.jspecify.annotations.NullMarked;
