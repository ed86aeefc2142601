package io.fenceline.spring.boot.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.context.annotation.Import;

/**
 * Gives the application under test locks in memory, whatever its properties say, and a {@link
 * io.fenceline.testkit.ManualTime} bean: leases end, jobs may run again and waits time out when the
 * test lets time pass, and not before. The {@link io.fenceline.memory.MemorySpace} bean is for a
 * second client, which stands for another instance.
 *
 * <p>An application that declares {@code Fenceline} beans itself keeps them, beside this one.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@Import(TestFencelineConfiguration.class)
public @interface AutoConfigureTestFenceline {}
