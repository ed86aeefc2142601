package io.fenceline.spring.boot;

import io.fenceline.FencelineException;
import io.fenceline.StoreRefusedException;
import io.fenceline.StoreUnavailableException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Shows a store that can't be connected to. */
final class StoreFailureAnalyzer extends AbstractFailureAnalyzer<FencelineException> {

  @Override
  protected @Nullable FailureAnalysis analyze(Throwable root, FencelineException cause) {
    if (cause instanceof StoreUnavailableException) {
      return new FailureAnalysis(
          String.valueOf(cause.getMessage()),
          "Start the store or correct its address: fenceline.store, spring.datasource.* or"
              + " spring.data.redis.*. If it only is slow, raise fenceline.connect-timeout.",
          cause);
    }
    if (cause instanceof StoreRefusedException) {
      return new FailureAnalysis(
          String.valueOf(cause.getMessage()),
          "Give the user of this application the rights that docs/least-rights.md lists. Where tables"
              + " are made by Flyway or Liquibase, fenceline.jdbc.initialize-schema=never, and the"
              + " script for it is io/fenceline/spring/boot/schema-*.sql in fenceline-spring-boot; if"
              + " they do it with a role of their own, name it: fenceline.jdbc.tables-owner.",
          cause);
    }
    return null;
  }
}
