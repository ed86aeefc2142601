package io.fenceline.testkit.scenario;

import io.fenceline.spi.ClaimHandler;
import io.fenceline.spi.Grant;
import io.fenceline.spi.Obstacle;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** What a store answered to one claim, in order. */
public final class Answers implements ClaimHandler {
  private final List<Object> heard = new CopyOnWriteArrayList<>();

  private record Waiting(Obstacle obstacle) {}

  private record Refused(Obstacle obstacle) {}

  /** Nothing heard so far. */
  public Answers() {}

  @Override
  public void granted(Grant grant) {
    heard.add(grant);
  }

  @Override
  public void waiting(Obstacle obstacle) {
    heard.add(new Waiting(obstacle));
  }

  @Override
  public void refused(Obstacle obstacle) {
    heard.add(new Refused(obstacle));
  }

  @Override
  public void failed(RuntimeException cause) {
    heard.add(cause);
  }

  public boolean isEmpty() {
    return heard.isEmpty();
  }

  public List<Grant> grants() {
    return heard.stream().filter(Grant.class::isInstance).map(Grant.class::cast).toList();
  }

  public boolean isWaiting() {
    return heard.stream().anyMatch(Waiting.class::isInstance);
  }

  public boolean isRefused() {
    return heard.stream().anyMatch(Refused.class::isInstance);
  }

  @Override
  public String toString() {
    return heard.toString();
  }
}
