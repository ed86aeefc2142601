package io.fenceline.zookeeper;

import io.fenceline.spi.Mode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The claims of one name in the order in which they came: who has it, who is in whose way.
 *
 * <p>A claim is granted when it fits beside everything that is ahead of it, be that granted or
 * waiting. So nobody overtakes, and everyone comes to the same result from the same list.
 */
final class Line {
  /*
   * The order is that of creation. Up to 2^31 the sequence tells it. Beyond, it does not: a server
   * of 3.9 gives 2147483647 again and again, mixed with negative numbers for requests that come
   * close together (older servers wrap). A name in steady use gets there, 25 days at a thousand
   * claims a second, since its container is only removed, and the sequence reset, when it is empty.
   * So near the end of the numbers the order is that of the czxid, which costs a read for each node.
   */
  private static final int MARGIN = 1 << 20;

  private static final Comparator<Place> BY_SEQUENCE = Comparator.comparingInt(Place::sequence);

  private final List<Place> places;
  private final boolean isBySequence;
  private final boolean isOneFamily;

  private Line(List<Place> places, boolean isBySequence) {
    this.places = places;
    this.isBySequence = isBySequence;
    this.isOneFamily =
        places.stream().allMatch(place -> isOneFamily(place.mode(), places.get(0).mode()));
  }

  private static boolean isOneFamily(Mode one, Mode other) {
    return one.equals(other) || one.family().equals(other.family());
  }

  /** The children that are claims, in no order yet. */
  static List<Place> parse(List<String> children) {
    List<Place> places = new ArrayList<>(children.size());
    for (String child : children) {
      Place place = Place.parse(child);
      if (place != null) {
        places.add(place);
      }
    }
    return places;
  }

  /** Whether sequences tell the order of these. */
  static boolean areSequencesSound(List<Place> places) {
    for (Place place : places) {
      if (!isSound(place.sequence())) {
        return false;
      }
    }
    return true;
  }

  /** Whether a sequence tells the order. */
  static boolean isSound(int sequence) {
    return sequence >= 0 && sequence <= Integer.MAX_VALUE - MARGIN;
  }

  /** The line by sequence. */
  static Line bySequence(List<Place> places) {
    if (places.size() > 1) {
      places.sort(BY_SEQUENCE);
    }
    return new Line(places, true);
  }

  /** The line by czxid; those that have none are gone. */
  static Line byCreation(List<Place> places, Map<String, Long> czxids) {
    places.removeIf(place -> !czxids.containsKey(place.node()));
    places.sort(Comparator.comparingLong(place -> czxids.getOrDefault(place.node(), 0L)));
    return new Line(places, false);
  }

  List<Place> places() {
    return places;
  }

  /** Those ahead of a node, the nearest last; null if the node is not in line. */
  @Nullable List<Place> aheadOf(String node) {
    int index = indexOf(node);
    return index < 0 ? null : places.subList(0, index);
  }

  private int indexOf(String node) {
    Place place = Place.parse(node);
    if (isBySequence && place != null) {
      int index = Collections.binarySearch(places, place, BY_SEQUENCE);
      return index >= 0 && places.get(index).node().equals(node) ? index : -1;
    }
    for (int i = 0; i < places.size(); i++) {
      if (places.get(i).node().equals(node)) {
        return i;
      }
    }
    return -1;
  }

  /** How many from the head of the line are granted. */
  int granted() {
    List<Mode> ahead = new ArrayList<>();
    for (Place place : places) {
      if (!place.mode().fitsBeside(ahead)) {
        break;
      }
      ahead.add(place.mode());
    }
    return ahead.size();
  }

  /** Whether a claim fits beside those ahead of it. */
  static boolean fits(Mode mode, List<Place> ahead) {
    return mode.fitsBeside(toWatch(mode, ahead).stream().map(Place::mode).toList());
  }

  /**
   * One ahead that is of another family, with which this mode can't be in line; null if none is.
   */
  @Nullable Place stranger(Mode mode, List<Place> ahead) {
    if (isOneFamily) {
      return ahead.isEmpty() || isOneFamily(mode, ahead.get(0).mode()) ? null : ahead.get(0);
    }
    for (Place place : ahead) {
      if (!isOneFamily(mode, place.mode())) {
        return place;
      }
    }
    return null;
  }

  /**
   * Whom to watch: the nearest of those in the way, as many as it takes so that the others alone
   * could not let this claim in by leaving. One for a lock, n for a semaphore of n.
   */
  static List<Place> toWatch(Mode mode, List<Place> ahead) {
    List<Place> watched = new ArrayList<>(1);
    List<Mode> staying = new ArrayList<>(1);
    for (int i = ahead.size() - 1; i >= 0 && mode.fitsBeside(staying); i--) {
      Place place = ahead.get(i);
      boolean inTheWay = !(mode instanceof Mode.Shared && place.mode() instanceof Mode.Shared);
      if (inTheWay) {
        watched.add(place);
        staying.add(place.mode());
      }
    }
    return watched;
  }
}
