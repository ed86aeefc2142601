package io.fenceline.cli;

import io.fenceline.cli.demo.Seller;
import io.fenceline.cli.failure.ExitCode;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** One process of the demo; the demo starts it. */
@Command(name = "demo-seller", hidden = true, description = "One seller of the demo.")
final class DemoSellerCommand implements Subcommand {
  @Option(names = "--store", description = "The demo's store.")
  private @Nullable String store;

  @Option(names = "--lease", description = "The lease of the seller's lock.")
  private Duration lease = Duration.ofSeconds(1);

  @Override
  public int run() throws InterruptedException {
    new Seller(store, lease).work();
    return ExitCode.OK;
  }
}
