package io.fenceline.zookeeper;

/**
 * What is known of a name that nobody else uses: up to which number all nodes of its line are gone.
 * A claim whose node has the next number is alone in line, and needs no list.
 *
 * <p>Knows one life of the folder of a name, and ends with it; see {@link Trails}.
 */
final class Trail {
  /*
   * A node's number is how many nodes its folder had before it, of whatever mode and whoever made
   * them. When an exclusive claim had the name, all nodes before its own were gone, for numbers only
   * rise; when the deletion of its node was answered, that one was, too. So if the next node of ours
   * has the very next number, nobody has come between, and nobody is ahead of it. That this takes in
   * shared claims and permits is why only exclusive ones leave a trail, but nodes of all modes break
   * it.
   *
   * What would break it, and why it can't:
   *
   * - The folder is removed when it is empty, and made again by another: its numbers start again, and
   *   the other may be ahead of us with a number that we took for gone. So a trail counts only while
   *   a watch guards that life of the folder, and only numbers of nodes count whose creation was sent
   *   after the watch (a claim keeps the trail that it was sent on). Trails has the rest.
   * - A number that we do not know of: a reply was lost, another of our claims is waiting, or gave
   *   up. It is not gone for us, so the next one after it is not next, and lists the line.
   * - A claim that is granted here and by a list: it lists only if it was not granted here.
   * - Numbers near their end, which repeat: they do not count.
   */
  private static final int NONE = -1;

  /** How many claims in a row have to be alone after another client was met. */
  private static final int PATIENCE = 4;

  final String parent;
  final boolean isWatched;

  // Guarded by this.
  private boolean isGuarded;
  private boolean ended;
  private int gone = NONE;
  private int newest = NONE;
  private int underWay;
  private int credit;

  /**
   * Nothing is known yet.
   *
   * @param isWatched whether a watch was sent for it; if not, it only tells whether one is worth it
   */
  Trail(String parent, boolean isWatched) {
    this.parent = parent;
    this.isWatched = isWatched;
  }

  /** The node of one claim. */
  static final class Step {
    final Trail trail;

    /** Whether it is likely to be alone, so that no list is sent along. */
    final boolean isGuess;

    private volatile int number = NONE;

    private Step(Trail trail, boolean isGuess) {
      this.trail = trail;
      this.isGuess = isGuess;
    }

    /** It has been granted, and its node is surely gone. */
    void gone() {
      trail.gone(number);
    }
  }

  /** A creation is about to be sent. */
  synchronized Step step() {
    boolean isFree = gone != NONE && gone == newest && underWay == 0;
    underWay++;
    return new Step(this, isGuarded && !ended && isFree && credit >= 0);
  }

  /** It has failed; whether there is a node is another question. */
  synchronized void failed() {
    underWay--;
  }

  /** The node is there; true if all before it are gone, as far as this trail can tell. */
  synchronized boolean made(Step step, int number) {
    underWay--;
    step.number = number;
    if (newest != NONE) {
      credit = number == newest + 1 ? Math.min(0, credit + 1) : -PATIENCE;
    }
    newest = Math.max(newest, number);
    return gone != NONE && number == gone + 1 && Line.isSound(number);
  }

  private synchronized void gone(int number) {
    if (Line.isSound(number)) {
      gone = Math.max(gone, number);
    }
  }

  /** The watch is set. */
  synchronized void guard() {
    isGuarded = true;
  }

  /** Whether what it tells is true, and not only likely. */
  synchronized boolean isProof() {
    return isGuarded && !ended;
  }

  /** What it tells is over, or of no use any more. */
  synchronized void end() {
    ended = true;
  }

  synchronized boolean hasEnded() {
    return ended;
  }
}
