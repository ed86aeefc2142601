/**
 * The oversell story, played by real processes: start at {@link io.fenceline.cli.demo.Story}.
 *
 * <p>{@code Shop} is what is guarded; {@link io.fenceline.cli.demo.Seller} is one process that
 * sells from it, and speaks with the shop over its stdin and stdout.
 */
@NullMarked
package io.fenceline.cli.demo;

import org.jspecify.annotations.NullMarked;
