/**
 * Answers for operators: who holds a name and who waits ({@code Inspector}), and what is wrong with
 * an ensemble or with the rights of a login ({@code Diagnostics}). Not part of the API.
 */
@NullMarked
package io.fenceline.zookeeper.diagnostics;

import org.jspecify.annotations.NullMarked;
