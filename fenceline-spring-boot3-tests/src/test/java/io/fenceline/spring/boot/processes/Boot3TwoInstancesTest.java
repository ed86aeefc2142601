package io.fenceline.spring.boot.processes;

import org.junit.jupiter.api.Tag;

/** Two processes of one application on Boot 3.5. */
@Tag("long")
class Boot3TwoInstancesTest extends TwoInstancesTest {}
