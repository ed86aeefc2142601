package io.fenceline.examples.springshop;

import io.fenceline.spring.Locked;
import java.util.Optional;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Service;

/** The job that each instance has on its clock, and that runs once in the fleet. */
@Service
public class Nightly {

  Nightly() {}

  /** Reports, unless another instance does, or has just done so. */
  @Scheduled(cron = "0 0 3 * * *")
  @Locked(name = "nightly", maxWait = "0s", keepAtLeast = "10m", onRefusal = Locked.OnRefusal.SKIP)
  public Optional<String> report() {
    return Optional.of("reported");
  }
}
