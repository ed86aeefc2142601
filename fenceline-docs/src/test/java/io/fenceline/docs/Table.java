package io.fenceline.docs;

import java.util.List;

/**
 * A table of a page.
 *
 * @param line where it begins
 * @param marker what the comment right above it says; empty without one
 * @param rows the cells, the head first, without the line of dashes
 */
record Table(int line, String marker, List<List<String>> rows) {}
