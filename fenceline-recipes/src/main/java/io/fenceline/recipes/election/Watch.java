package io.fenceline.recipes.election;

/** A look at who leads, again and again, until it is closed. */
public interface Watch extends AutoCloseable {

  /** Ends it; a listener that is being called returns first, none is called afterwards. */
  @Override
  void close();
}
