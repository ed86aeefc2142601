package io.fenceline.spring.boot;

import java.util.List;

/** Nothing says where the locks of this application are. */
final class NoStoreException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  private final List<String> reasons;

  NoStoreException(String what, List<String> reasons) {
    super(what + ": " + String.join("; ", reasons));
    this.reasons = List.copyOf(reasons);
  }

  /** What was looked at, and why it can't keep locks. */
  List<String> reasons() {
    return reasons;
  }
}
