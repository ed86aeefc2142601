/**
 * Answers for operators: which names there are ({@code Listing}), what is wrong with a server
 * ({@code Diagnostics}); and checks of a server before a store is opened ({@code ServerCheck},
 * {@code CrashSafety}). Not part of the API.
 */
@NullMarked
package io.fenceline.redis.diagnostics;

import org.jspecify.annotations.NullMarked;
