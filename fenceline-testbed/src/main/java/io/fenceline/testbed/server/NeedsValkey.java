package io.fenceline.testbed.server;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.condition.DisabledIf;

/**
 * Tests that need a server of {@link RedisKind#VALKEY}, which not every distribution has: they are
 * left out, and counted as such, where there is none.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@DisabledIf(
    value = "io.fenceline.testbed.process.Debian#lacksValkey",
    disabledReason = "no server for this machine: Valkey")
public @interface NeedsValkey {}
