package io.fenceline.spring.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says which line would give the application a store. */
final class NoStoreFailureAnalyzer extends AbstractFailureAnalyzer<NoStoreException> {

  @Override
  protected FailureAnalysis analyze(Throwable root, NoStoreException cause) {
    return new FailureAnalysis(
        "Fenceline has no store for locks:\n\n    - " + String.join("\n    - ", cause.reasons()),
        """
        Say where the locks are, by one of these lines:

            fenceline.store=jdbc:postgresql://host/database?user=app&password=${DB_PASSWORD}
            fenceline.store=redis://host:6379
            fenceline.store=sqlite:/var/lib/app/locks.db   (one machine)

        or connect the application to PostgreSQL, MariaDB, MySQL (spring.datasource.*) or Redis \
        (spring.data.redis.*). For tests and for an application that never has a second instance: \
        fenceline.store=memory:""",
        cause);
  }
}
