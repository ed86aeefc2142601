package io.fenceline.docs;

/**
 * A link or picture of a page.
 *
 * @param page the page's path from the root
 * @param line where it is
 * @param target as written
 * @param title the text in quotes after the target; of a link to a test, the names of its methods
 */
record Link(String page, int line, String target, String title) {

  boolean isExternal() {
    return target.contains("://") || target.startsWith("mailto:");
  }

  @Override
  public String toString() {
    return page + ":" + line + " " + target;
  }
}
