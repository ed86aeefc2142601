package io.fenceline.testkit.scenario;

import io.fenceline.event.LockEvent;
import io.fenceline.event.LockListener;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The events of a client, in order. */
public final class EventLog implements LockListener {
  private final List<LockEvent> events = new CopyOnWriteArrayList<>();

  @Override
  public void on(LockEvent event) {
    events.add(event);
  }

  public List<LockEvent> all() {
    return List.copyOf(events);
  }

  public <E extends LockEvent> List<E> of(Class<E> kind) {
    return events.stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  public <E extends LockEvent> List<E> of(Class<E> kind, String name) {
    return of(kind).stream().filter(event -> event.name().equals(name)).toList();
  }
}
