package io.fenceline.spring.boot;

import io.fenceline.LockOptions;
import io.fenceline.settings.InvalidSettingException;
import io.fenceline.spring.LockSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Settings by groups of names; the group with the longest matching name counts. */
final class GroupSettings implements LockSettings {
  private final List<Named> groups = new ArrayList<>();
  private final Duration maxWait;

  /** One name, or the start of names, of a group. */
  private record Named(String start, boolean whole, FencelineProperties.Group group) {
    boolean matches(String name) {
      return whole ? name.equals(start) : name.startsWith(start);
    }
  }

  GroupSettings(Map<String, FencelineProperties.Group> groups, Duration maxWait) {
    this.maxWait = maxWait;
    groups.forEach(this::add);
    this.groups.sort(
        Comparator.comparing(Named::whole)
            .thenComparing(named -> named.start().length())
            .reversed());
  }

  private void add(String key, FencelineProperties.Group group) {
    String setting = "fenceline.groups." + key;
    if (group.names().isEmpty()) {
      throw new InvalidSettingException(setting + ".names", "none", "name locks, such as order:*");
    }
    if (group.lease() != null && group.fixedLease() != null) {
      throw new InvalidSettingException(
          setting + ".lease", group.lease(), "a group has a lease or a fixed lease, not both");
    }
    options(group, LockOptions.defaults()); // Fails at start, and not when a lock is wanted.
    for (String name : group.names()) {
      boolean start = name.endsWith("*");
      groups.add(new Named(start ? name.substring(0, name.length() - 1) : name, !start, group));
    }
  }

  private FencelineProperties.@Nullable Group find(String name) {
    for (Named named : groups) {
      if (named.matches(name)) {
        return named.group();
      }
    }
    return null;
  }

  @Override
  public LockOptions options(String name, LockOptions ofClient) {
    FencelineProperties.Group group = find(name);
    return group == null ? ofClient : options(group, ofClient);
  }

  private static LockOptions options(FencelineProperties.Group group, LockOptions given) {
    LockOptions options = given;
    options = group.lease() == null ? options : options.lease(group.lease());
    options = group.fixedLease() == null ? options : options.fixedLease(group.fixedLease());
    options = group.maxHold() == null ? options : options.maxHold(group.maxHold());
    options = group.lockDelay() == null ? options : options.lockDelay(group.lockDelay());
    options = group.keepAtLeast() == null ? options : options.keepAtLeast(group.keepAtLeast());
    options = group.warnAfter() == null ? options : options.warnAfter(group.warnAfter());
    return group.interruptOnLoss() ? options.interruptOnLoss() : options;
  }

  @Override
  public Duration maxWait(String name) {
    FencelineProperties.Group group = find(name);
    return group == null || group.maxWait() == null ? maxWait : group.maxWait();
  }
}
