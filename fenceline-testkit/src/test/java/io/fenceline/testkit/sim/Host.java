package io.fenceline.testkit.sim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A machine on which nothing happens while it is paused, and nothing ever again once it is dead.
 */
class Host {
  final World world;
  final String name;

  /** Tells it apart from the other hosts of its world. */
  final int number;

  private final List<World.Event> deferred = new ArrayList<>();
  private int pauses;
  private boolean dead;

  Host(World world, String name) {
    this.world = world;
    this.name = name;
    this.number = world.nextHost();
  }

  boolean isRunning() {
    return pauses == 0 && !dead;
  }

  boolean isDead() {
    return dead;
  }

  /** Keeps for later what comes while it is paused. */
  void defer(World.Event event) {
    if (!dead) {
      deferred.add(event);
    } else {
      event.over = true;
    }
  }

  /** Stops it; pauses may overlap. */
  void pause(long nanos) {
    if (dead) {
      return;
    }
    pauses++;
    world.after(nanos, "resume", this::resume);
  }

  /**
   * Goes on. What has come meanwhile happens now: in order for each source, while the sources, each
   * a thread or a connection of its own, overtake each other.
   */
  private void resume() {
    pauses--;
    if (!isRunning()) {
      return;
    }
    world.note(name, "runs again");
    resumed();
    Map<Integer, Long> times = new HashMap<>();
    for (World.Event event : List.copyOf(deferred)) {
      long first = times.computeIfAbsent(event.source, source -> world.nanosBelow(200_000));
      times.put(event.source, first + 1_000);
      again(event, first);
    }
    deferred.clear();
  }

  private void again(World.Event event, long delay) {
    world.after(
        delay,
        this,
        event.source,
        event.what,
        () -> {
          if (!event.over) {
            event.over = true;
            event.task.run();
          }
        });
  }

  void resumed() {}

  void die() {
    dead = true;
    deferred.clear();
  }

  @Override
  public String toString() {
    return name;
  }
}
