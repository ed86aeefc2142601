package io.fenceline.jdbc.fault;

import io.fenceline.testbed.proxy.FaultProxy;
import io.fenceline.testbed.proxy.Protocol;
import io.fenceline.testkit.contract.LockContract;
import io.fenceline.testkit.harness.StoreHarness;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** PostgreSQL behind PgBouncer, which pools transactions, keeps the contract. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class PgBouncerContractTest extends LockContract {
  private static PooledPostgres pooled;

  @BeforeAll
  static void start() {
    pooled = new PooledPostgres();
  }

  @AfterAll
  static void stop() {
    pooled.close();
  }

  @Override
  protected StoreHarness harness() {
    return StoreHarness.onRealTime(PooledPostgres.at(pooled.url), Duration.ofSeconds(3));
  }

  @Override
  protected Optional<Proxied> proxied() {
    FaultProxy proxy =
        FaultProxy.to(pooled.bouncer.host(), pooled.bouncer.port(), Protocol.POSTGRES);
    String url = pooled.url.replace(pooled.bouncer.address(), proxy.address());
    return Optional.of(new Proxied(PooledPostgres.at(url), proxy));
  }
}
