package io.fenceline.recipes.ratelimit;

import java.time.Duration;
import java.time.Instant;

/**
 * The answer to a question for permits.
 *
 * @param isAdmitted whether they are taken
 * @param untilNext if they are not: how long it takes at least until so many can be had; others may
 *     get them first. Zero if they are taken
 * @param at when they count as used, by the clock of the store; or when they could be had
 * @param isLocal whether the store was away, and this process decided alone
 */
public record Admission(boolean isAdmitted, Duration untilNext, Instant at, boolean isLocal) {}
