// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.reply.JsonBuffer;
import io.kvindex.query.reply.MsgpackBuffer;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * What a query answers: a body, JSON, MessagePack or octets, and how far to trust it. Reused; not
 * thread-safe.
 */
public final class QueryReply {
  /** {@link #lagMs} where nothing is known. */
  public static final long NO_LAG = -1;

  private final JsonBuffer body = new JsonBuffer();
  private final MsgpackBuffer packed = new MsgpackBuffer();
  private byte @Nullable [] octets;
  private boolean isPacked;
  private @Nullable String state;
  private long lagMs = NO_LAG;
  private @Nullable String degraded;

  void clear() {
    body.clear();
    packed.clear();
    octets = null;
    isPacked = false;
    state = null;
    lagMs = NO_LAG;
    degraded = null;
  }

  /** The body as JSON, empty when the answer begins. */
  public JsonBuffer body() {
    return body;
  }

  /** The body as MessagePack, empty when the answer begins; who asks for it answers with it. */
  public MsgpackBuffer packed() {
    isPacked = true;
    return packed;
  }

  /** Makes these bytes the whole body. */
  public void octets(byte[] bytes) {
    octets = bytes;
  }

  boolean isPacked() {
    return isPacked;
  }

  boolean isOctets() {
    return octets != null;
  }

  ByteBuffer content() {
    if (octets != null) {
      return ByteBuffer.wrap(octets);
    }
    return isPacked ? packed.asByteBuffer() : body.asByteBuffer();
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

  /** Value of {@code X-KvIndex-State}, null = not set. */
  public @Nullable String state() {
    return state;
  }

  long lagMs() {
    return lagMs;
  }

  /** Value of {@code X-KvIndex-Degraded}, null = nobody is. */
  public @Nullable String degraded() {
    return degraded;
  }
}
