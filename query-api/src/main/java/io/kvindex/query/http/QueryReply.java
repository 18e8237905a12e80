// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.reply.JsonBuffer;
import org.jspecify.annotations.Nullable;

/** What a query answers: a JSON body and how far to trust it. Reused; not thread-safe. */
public final class QueryReply {
  /** {@link #lagMs} where nothing is known. */
  public static final long NO_LAG = -1;

  private final JsonBuffer body = new JsonBuffer();
  private @Nullable String state;
  private long lagMs = NO_LAG;
  private @Nullable String degraded;

  void clear() {
    body.clear();
    state = null;
    lagMs = NO_LAG;
    degraded = null;
  }

  /** The body, empty when the answer begins. */
  public JsonBuffer body() {
    return body;
  }

  /**
   * Sets the trust headers.
   *
   * @param trust {@code exact}, {@code degraded} or {@code stale}
   * @param lag age of the oldest event not yet visible, in ms, or {@link #NO_LAG}
   * @param instances comma-separated degraded instances, null for none
   */
  public void trust(String trust, long lag, @Nullable String instances) {
    state = trust;
    lagMs = lag;
    degraded = instances;
  }

  @Nullable String state() {
    return state;
  }

  long lagMs() {
    return lagMs;
  }

  @Nullable String degraded() {
    return degraded;
  }
}
