package io.fenceline.testbed.server;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/**
 * Tests that need {@link MySqlServer}: they are left out, and counted as such, on a machine for
 * which there is none.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@EnabledOnOs(
    value = OS.LINUX,
    architectures = "amd64",
    disabledReason = "no server for this machine: MySQL")
public @interface NeedsMySql {}
