package io.fenceline.bench.contender;

import io.fenceline.bench.contender.Entrant.Discipline;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** The contenders of one store, open at one address. */
public final class Field implements AutoCloseable {
  private final List<Player> players = new ArrayList<>();

  /**
   * A contender that is open.
   *
   * @param entrant who it is
   * @param contender what it does
   */
  public record Player(Entrant entrant, Contender contender) {}

  private Field() {}

  /** Opens the contenders of a store; Fenceline is always there. */
  public static Field open(String store, String address, Predicate<String> wanted)
      throws Exception {
    Field field = new Field();
    try {
      for (Entrant entrant : Entrants.of(store, wanted)) {
        field.players.add(new Player(entrant, entrant.opener().open(address)));
      }
      return field;
    } catch (Exception e) {
      field.close();
      throw e;
    }
  }

  /** All of them, Fenceline first. */
  public List<Player> all() {
    return List.copyOf(players);
  }

  /** Those who can take part, Fenceline first. */
  public List<Player> in(Discipline discipline) {
    return players.stream().filter(p -> p.entrant().takesPartIn(discipline)).toList();
  }

  @Override
  public void close() throws Exception {
    for (Player player : players) {
      player.contender().close();
    }
  }
}
