package io.fenceline.fence;

import io.fenceline.FencingToken;
import io.fenceline.settings.InvalidSettingException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * A fence in the memory of one process, for a resource that lives there too.
 *
 * <p>Two replicas of a service have two memories: a fence of this kind in each of them refuses
 * nothing that the other one has seen. Use the fence of a store that they share.
 *
 * <p>It keeps the marks of a bounded number of resources. When there are more, the one that was not
 * written for the longest time is forgotten, and its marks become the floor below which nothing
 * unknown passes: forgetting can refuse a very old token without need, but never lets a stale one
 * pass.
 *
 * <p>So the names of resources have to come from the application: whoever can make names up, and
 * send large tokens with them, raises that floor for everyone. Behind HTTP, {@code Resources.known}
 * is for that.
 */
public final class MemoryFence implements Fence {
  private static final int DEFAULT_RESOURCES = 100_000;

  private final int maxResources;
  private final FenceNotices notices;

  // Guarded by itself.
  private final LinkedHashMap<String, FenceMarks> marks = new LinkedHashMap<>(16, 0.75f, true);
  private FenceMarks floor = FenceMarks.NONE;

  /** A fence for up to 100,000 resources. */
  public MemoryFence() {
    this(DEFAULT_RESOURCES);
  }

  /** A fence that keeps the marks of so many resources. */
  public MemoryFence(int maxResources) {
    this(maxResources, FenceNotices.of("memory"));
  }

  /** A fence that keeps the marks of so many resources, and tells a listener. */
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
