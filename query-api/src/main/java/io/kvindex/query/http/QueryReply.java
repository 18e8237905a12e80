// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.lookup.Trust;
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

  /** Stands for all instances of the answer where the names of the degraded ones are too long. */
  public static final String ALL = "*";

  /** Characters of names that go into one header: servers and proxies end at 8 KiB for all. */
  private static final int MAX_NAMES = 4_096;

  private final JsonBuffer body = new JsonBuffer();
  private final MsgpackBuffer packed = new MsgpackBuffer();
  private byte @Nullable [] octets;
  private boolean isPacked;
  private @Nullable Trust trust;
  private long lagMs = NO_LAG;
  private @Nullable String degraded;

  void clear() {
    body.clear();
    packed.clear();
    octets = null;
    isPacked = false;
    trust = null;
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
   * @param lag age of the oldest event not yet visible, in ms, or {@link #NO_LAG}
   * @param instances comma-separated degraded instances, null for none
   */
  public void trust(Trust howFar, long lag, @Nullable String instances) {
    trust = howFar;
    lagMs = lag;
    degraded = instances != null && instances.length() > MAX_NAMES ? ALL : instances;
  }

  /** What {@code X-KvIndex-State} says, null = not set. */
  public @Nullable Trust trust() {
    return trust;
  }

  long lagMs() {
    return lagMs;
  }

  /** Value of {@code X-KvIndex-Degraded}, null = nobody is. */
  public @Nullable String degraded() {
    return degraded;
  }
}
