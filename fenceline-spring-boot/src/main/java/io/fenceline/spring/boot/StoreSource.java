package io.fenceline.spring.boot;

import io.fenceline.Store;
import org.jspecify.annotations.Nullable;

/** Something that the application is connected to and that may keep its locks. */
public interface StoreSource {

  /** What {@code fenceline.store} calls it. */
  String name();

  /** Looks whether it can keep locks; called once, when the application starts. */
  Found find();

  /**
   * What was found.
   *
   * @param store null if it can't keep locks
   * @param why why not, for the failure analysis
   */
  record Found(@Nullable Store store, String why) {

    /** A store. */
    public static Found of(Store store) {
      return new Found(store, "");
    }

    /** None, and why. */
    public static Found none(String why) {
      return new Found(null, why);
    }
  }
}
