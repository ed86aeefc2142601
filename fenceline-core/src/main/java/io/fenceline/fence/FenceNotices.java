package io.fenceline.fence;

import io.fenceline.FencingToken;
import io.fenceline.StaleTokenException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports the decisions of a fence to the log and to listeners; for implementations of fences.
 *
 * <p>Accepted tokens are logged at DEBUG and refused ones at WARN, with the logger {@code
 * io.fenceline.fence}. Immutable.
 */
public final class FenceNotices {
  private static final Logger LOG = LoggerFactory.getLogger("io.fenceline.fence");

  private final String fence;
  private final List<FenceListener> listeners;

  private FenceNotices(String fence, List<FenceListener> listeners) {
    this.fence = fence;
    this.listeners = listeners;
  }

  /** Returns notices of one kind of fence, such as {@code redis}, without listeners. */
  public static FenceNotices of(String fence) {
    return new FenceNotices(Objects.requireNonNull(fence, "fence"), List.of());
  }

  /** Returns a copy with one more listener. */
  public FenceNotices with(FenceListener listener) {
    List<FenceListener> all = new ArrayList<>(listeners);
    all.add(Objects.requireNonNull(listener, "listener"));
    return new FenceNotices(fence, List.copyOf(all));
  }

  /** Reports that a token passed. */
  public void accepted(String resource, FencingToken token) {
    if (LOG.isDebugEnabled()) {
      LOG.debug(
          "Resource '{}' accepted {} token {} (fence={})",
          resource,
          token.exclusive() ? "exclusive" : "shared",
          token.value(),
          fence);
    }
    if (!listeners.isEmpty()) {
      tell(new FenceEvent.Accepted(fence, resource, token));
    }
  }

  /**
   * Reports that a token was refused.
   *
   * @param accepted the larger token that has passed before
   * @return the exception to throw
   */
  public StaleTokenException refused(String resource, FencingToken token, long accepted) {
    StaleTokenException stale = new StaleTokenException(resource, token, accepted);
    LOG.warn("{} (fence={})", stale.getMessage(), fence);
    if (!listeners.isEmpty()) {
      tell(new FenceEvent.Refused(fence, resource, token, accepted));
    }
    return stale;
  }

  private void tell(FenceEvent event) {
    for (FenceListener listener : listeners) {
      try {
        listener.on(event);
      } catch (RuntimeException e) { // The verdict stands, whatever a listener thinks of it.
        LOG.warn("A listener failed on {}", event, e);
      }
    }
  }
}
