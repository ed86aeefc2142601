/** What callers give: options that commands share, durations, the config file. Knows no command. */
@NullMarked
package io.fenceline.cli.options;

import org.jspecify.annotations.NullMarked;
