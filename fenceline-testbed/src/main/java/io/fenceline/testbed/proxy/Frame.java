package io.fenceline.testbed.proxy;

/**
 * A request, or a message that a server sent unasked, as it went over the wire.
 *
 * @param kind the command ({@code EVALSHA}), type of message ({@code Sync}) or operation ({@code
 *     create}); {@code bytes} where the protocol is not known
 * @param text what can be read of it: the words of a Redis command, the SQL and the parameters of a
 *     statement, the path in a ZooKeeper request; other bytes as UTF-8 makes of them
 */
public record Frame(String kind, String text) {

  /** Whether the text contains {@code part}. */
  public boolean contains(String part) {
    return text.contains(part);
  }

  /** Whether the kind is {@code name}, in whatever case. */
  public boolean is(String name) {
    return kind.equalsIgnoreCase(name);
  }
}
