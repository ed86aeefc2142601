package io.fenceline.spring.boot.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.context.ConfigDataApplicationContextInitializer;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/**
 * A test of locked beans and nothing else of the application: locks in memory, a time that the test
 * owns, and the beans that it imports.
 *
 * <pre>{@code
 * @FencelineTest
 * @Import(NightlyReport.class)
 * class NightlyReportTest {
 *   @Autowired NightlyReport report;
 *   @Autowired ManualTime time;
 *
 *   @Test
 *   void runsOnceIn10Minutes() {
 *     assertThat(report.run()).isPresent();
 *     assertThat(report.run()).isEmpty();
 *     time.advance(Duration.ofMinutes(11));
 *     assertThat(report.run()).isPresent();
 *   }
 * }
 * }</pre>
 *
 * <p>The application's properties are read, so options of groups count. A test that needs more of
 * the application takes {@code @SpringBootTest} with {@link AutoConfigureTestFenceline}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ExtendWith(SpringExtension.class)
@ContextConfiguration(
    classes = FencelineSlice.class,
    initializers = ConfigDataApplicationContextInitializer.class)
@AutoConfigureTestFenceline
public @interface FencelineTest {}
