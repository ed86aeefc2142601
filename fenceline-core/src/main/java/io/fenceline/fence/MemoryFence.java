package io.fenceline.fence;

import io.fenceline.FencingToken;
import io.fenceline.InvalidSettingException;
import io.fenceline.StaleTokenException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
 */
public final class MemoryFence implements Fence {
  private static final Logger LOG = LoggerFactory.getLogger("io.fenceline.fence");
  private static final int DEFAULT_RESOURCES = 100_000;

  private final int maxResources;

  // Guarded by itself.
  private final LinkedHashMap<String, FenceMarks> marks = new LinkedHashMap<>(16, 0.75f, true);
  private FenceMarks floor = FenceMarks.NONE;

  /** A fence for up to 100,000 resources. */
  public MemoryFence() {
    this(DEFAULT_RESOURCES);
  }

  /** A fence that keeps the marks of so many resources. */
  public MemoryFence(int maxResources) {
    if (maxResources < 1) {
      throw new InvalidSettingException("maxResources", maxResources, "it must be at least 1");
    }
    this.maxResources = maxResources;
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
      StaleTokenException stale = new StaleTokenException(resource, token, before.markFor(token));
      LOG.warn("{}", stale.getMessage());
      throw stale;
    }
    LOG.debug("Resource '{}' accepted token {}", resource, token);
  }

  private void forgetOldest() {
    if (marks.size() <= maxResources) {
      return;
    }
    Map.Entry<String, FenceMarks> oldest = marks.entrySet().iterator().next();
    FenceMarks forgotten = oldest.getValue();
    floor =
        new FenceMarks(
            Math.max(floor.exclusive(), forgotten.exclusive()),
            Math.max(floor.any(), forgotten.any()));
    marks.remove(oldest.getKey());
  }
}
