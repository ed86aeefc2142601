/**
 * Executes the pages: README, docs and all other Markdown of this repository.
 *
 * <p>{@link io.fenceline.docs.Document} reads a page; each test looks at one thing: blocks of code
 * ({@code JavaBlocksTest}, {@code CommandBlocksIT}, {@code BlocksTest}), links ({@code LinksTest}),
 * pages in two languages ({@code TwinsTest}), tables ({@code StoreTablesTest}).
 */
package io.fenceline.docs;
