/**
 * The part of {@code fenceline once} that has to do with records: {@link
 * io.fenceline.cli.once.Records} finds them at an address, {@link io.fenceline.cli.once.Answer} is
 * what they keep of a command.
 */
@NullMarked
package io.fenceline.cli.once;

import org.jspecify.annotations.NullMarked;
