package io.fenceline.bench;

import io.fenceline.bench.store.Venue;
import io.fenceline.bench.work.Effort;
import io.fenceline.bench.work.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * What was asked for.
 *
 * @param stores which stores
 * @param effort how thoroughly
 * @param contenders ids of the contenders beside Fenceline; empty for all
 * @param works names of the works; empty for all
 * @param isAdded whether what was measured is added to the page of the documentation
 */
record Arguments(
    List<String> stores,
    Effort effort,
    List<String> contenders,
    List<String> works,
    boolean isAdded) {

  static Arguments parse(List<String> words) {
    List<String> stores = new ArrayList<>();
    List<String> contenders = new ArrayList<>();
    List<String> works = new ArrayList<>();
    List<Integer> crowds = List.of();
    List<Integer> clients = List.of();
    boolean isAdded = false;
    Effort effort = Effort.FULL;
    for (String word : words) {
      if (word.equals("--quick")) {
        effort = Effort.QUICK;
      } else if (word.equals("--add")) {
        isAdded = true;
      } else if (word.startsWith("--contenders=")) {
        contenders.addAll(list(word));
      } else if (word.startsWith("--works=")) {
        works.addAll(list(word));
      } else if (word.startsWith("--processes=")) {
        crowds = list(word).stream().map(Integer::valueOf).toList();
      } else if (word.startsWith("--clients=")) {
        clients = list(word).stream().map(Integer::valueOf).toList();
      } else if (Venue.ALL.contains(word) || Venue.BY_NAME.contains(word)) {
        stores.add(word);
      } else {
        System.err.println("bench: unknown argument '" + word + "'; see ./bench --help");
        System.exit(64);
      }
    }
    effort = crowds.isEmpty() ? effort : effort.with(crowds);
    return new Arguments(
        List.copyOf(stores.isEmpty() ? Venue.ALL : stores),
        clients.isEmpty() ? effort : effort.withClients(clients),
        List.copyOf(contenders),
        List.copyOf(works),
        isAdded);
  }

  private static List<String> list(String word) {
    return List.of(word.substring(word.indexOf('=') + 1).split(",", -1));
  }

  boolean wantsContender(String id) {
    return contenders.isEmpty() || contenders.contains(id);
  }

  boolean wantsWork(String name) {
    return works.isEmpty() || works.contains(name);
  }

  /** Whether a work of one process is wanted, for which all have to be warm. */
  boolean wantsRates() {
    return Shape.ALL.stream().anyMatch(shape -> wantsWork(shape.work()));
  }

  /** Whether nothing was left out. */
  boolean isWhole() {
    return stores.size() == Venue.ALL.size()
        && Venue.ALL.containsAll(stores)
        && contenders.isEmpty()
        && works.isEmpty();
  }
}
