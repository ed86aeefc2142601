package io.fenceline.jdbc;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The clients of this process that use the same tables: they tell each other at once what they
 * would otherwise find out by looking.
 */
final class Neighbours {
  // The lists are never changed, only replaced: they are read at each release.
  private static final ConcurrentHashMap<String, List<WaitingRoom>> ROOMS =
      new ConcurrentHashMap<>();

  private final String tables;

  /** Those who use tables that are called like this, with their database. */
  Neighbours(String tables) {
    this.tables = tables;
  }

  void add(WaitingRoom room) {
    ROOMS.compute(
        tables,
        (key, rooms) -> {
          List<WaitingRoom> more = new ArrayList<>(rooms == null ? List.of() : rooms);
          more.add(room);
          return more;
        });
  }

  void remove(WaitingRoom room) {
    ROOMS.computeIfPresent(
        tables,
        (key, rooms) -> {
          List<WaitingRoom> less = new ArrayList<>(rooms);
          less.remove(room);
          return less.isEmpty() ? null : less;
        });
  }

  /** Someone's turn has come. */
  void hint(String id) {
    rooms().forEach(room -> room.hint(id));
  }

  /** As {@link #hint}, where asking does not block. */
  void hintNow(String id) {
    rooms().forEach(room -> room.hintNow(id));
  }

  /** A name has become free that someone may wait for. */
  void soon() {
    rooms().forEach(WaitingRoom::soon);
  }

  private List<WaitingRoom> rooms() {
    return ROOMS.getOrDefault(tables, List.of());
  }
}
