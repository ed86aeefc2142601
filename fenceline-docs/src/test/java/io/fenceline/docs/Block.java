package io.fenceline.docs;

/**
 * A fenced block of a page.
 *
 * @param page the page's path from the root
 * @param line where it begins
 * @param language as written after the fence; empty if nothing is
 * @param marker what the comment right above it says; empty without one
 * @param text what is inside
 */
record Block(String page, int line, String language, String marker, String text) {

  /** What a marker says after this word, or null if it does not begin with it. */
  String marked(String word) {
    return marker.startsWith(word) ? marker.substring(word.length()).strip() : null;
  }

  @Override
  public String toString() {
    return page + ":" + line + " (" + (language.isEmpty() ? "no language" : language) + ")";
  }
}
