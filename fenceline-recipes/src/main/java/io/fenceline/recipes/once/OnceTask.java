package io.fenceline.recipes.once;

/**
 * Work that is to have its effect once.
 *
 * @param <W> what it is told
 * @param <T> its result
 * @param <X> what it may throw
 */
@FunctionalInterface
public interface OnceTask<W extends Work, T, X extends Exception> {

  /**
   * Does the work.
   *
   * @throws X says that there was no effect: the key is free again, unless {@link
   *     Work#effectBegins} was called
   */
  T run(W work) throws X;
}
