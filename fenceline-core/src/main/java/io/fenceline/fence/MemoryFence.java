package io.fenceline.fence;

import io.fenceline.FencingToken;
import io.fenceline.settings.InvalidSettingException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * A fence in the memory of one process, for a resource in the same process.
 *
 * <p>Two replicas of a service have separate memories, so a memory fence in one replica does not
 * know the tokens that the other one has accepted. Use the fence of a store that they share.
 *
 * <p>It keeps the marks of a bounded number of resources. Beyond that, it forgets the least
 * recently written one, and refuses tokens below the forgotten marks for all unknown resources:
 * this may needlessly refuse a very old token, but never lets a stale one pass.
 *
 * <p>Resource names must therefore come from the application: a client that could invent names and
 * send large tokens with them would raise that bound for everyone. Behind HTTP, use {@code
 * Resources.known}.
 */
public final class MemoryFence implements Fence {
  private static final int DEFAULT_RESOURCES = 100_000;

  private final int maxResources;
  private final FenceNotices notices;

  // Guarded by itself.
  private final LinkedHashMap<String, FenceMarks> marks = new LinkedHashMap<>(16, 0.75f, true);
  private FenceMarks floor = FenceMarks.NONE;

  /** Creates a fence for up to 100,000 resources. */
  public MemoryFence() {
    this(DEFAULT_RESOURCES);
  }

  /** Creates a fence that keeps the marks of at most this many resources. */
  public MemoryFence(int maxResources) {
    this(maxResources, FenceNotices.of("memory"));
  }

  /** Creates a fence that keeps the marks of at most this many resources, with a listener. */
  public MemoryFence(int maxResources, FenceListener listener) {
    this(maxResources, FenceNotices.of("memory").with(listener));
  }

  private MemoryFence(int maxResources, FenceNotices notices) {
    if (maxResources < 1) {
      throw new InvalidSettingException("maxResources", maxResources, "it must be at least 1");
    }
    this.maxResources = maxResources;
    this.notices = notices;
  }

  @Override
  public void check(String resource, FencingToken token) {
    Objects.requireNonNull(token, "token");
    FenceMarks before;
    boolean admitted;
    synchronized (marks) {
      before = marks.getOrDefault(Objects.requireNonNull(resource, "resource"), floor);
      admitted = before.admits(token);
      if (admitted) {
        marks.put(resource, before.after(token));
        forgetOldest();
      }
    }
    if (!admitted) {
      throw notices.refused(resource, token, before.markFor(token));
    }
    notices.accepted(resource, token);
  }

  private void forgetOldest() {
    if (marks.size() <= maxResources) {
      return;
    }
    Map.Entry<String, FenceMarks> oldest = marks.entrySet().iterator().next();
    floor = floor.atLeast(oldest.getValue());
    marks.remove(oldest.getKey());
  }
}
