package io.fenceline.jdbc;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The clients of this process that use the same tables: they tell each other at once what they
 * would otherwise find out by looking.
 */
final class Neighbours {
  private static final Map<String, List<WaitingRoom>> ROOMS = new HashMap<>();

  private final String tables;

  /** Those who use tables that are called like this, with their database. */
  Neighbours(String tables) {
    this.tables = tables;
  }

  void add(WaitingRoom room) {
    synchronized (ROOMS) {
      ROOMS.computeIfAbsent(tables, key -> new ArrayList<>()).add(room);
    }
  }

  void remove(WaitingRoom room) {
    synchronized (ROOMS) {
      List<WaitingRoom> rooms = ROOMS.get(tables);
      if (rooms != null && rooms.remove(room) && rooms.isEmpty()) {
        ROOMS.remove(tables);
      }
    }
  }

  /** Someone's turn has come. */
  void hint(String id) {
    rooms().forEach(room -> room.hint(id));
  }

  /** A name has become free that someone may wait for. */
  void soon() {
    rooms().forEach(WaitingRoom::soon);
  }

  private List<WaitingRoom> rooms() {
    synchronized (ROOMS) {
      return List.copyOf(ROOMS.getOrDefault(tables, List.of()));
    }
  }
}
