package io.fenceline.recipes.election;

/** What a leader does. */
@FunctionalInterface
public interface LeaderTask {

  /**
   * Leads. The term lasts until this returns or throws; when the term has to end before, the thread
   * is interrupted.
   *
   * @throws Exception gives up the leadership, and the candidate campaigns again after a back-off
   */
  void lead(Leadership leadership) throws Exception;
}
