/**
 * Fencing tokens over HTTP: a client sends its token along, and the server refuses a stale one.
 *
 * <p>Start at {@link io.fenceline.http.FencingTokens}, which defines the header. {@link
 * io.fenceline.http.FencingTokenFilter} is for servers on Jakarta Servlet, and the only class that
 * needs it, with {@link io.fenceline.http.ServletProblems}; {@link io.fenceline.http.Problem} is
 * what any other server can answer with. Relies on {@code io.fenceline.fence}.
 */
@NullMarked
package io.fenceline.http;

import org.jspecify.annotations.NullMarked;
