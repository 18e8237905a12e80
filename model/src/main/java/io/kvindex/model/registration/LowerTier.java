// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.registration;

import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What stores on other media than the device mean that an inference engine announces: some announce
 * what they put into a store somebody else evicts from, and never say that it is gone.
 *
 * @param kind what they mean
 * @param pool instance id of the pool that knows what is resident; only with {@link Kind#POOL}
 * @param ttlSeconds how long they count, 1 to {@value #MAX_SECONDS}; 0 unless {@link Kind#TTL}
 */
public record LowerTier(Kind kind, @Nullable String pool, int ttlSeconds) {

  /** Longest time anything is kept on trust: 30 days, in seconds. */
  public static final int MAX_SECONDS = 30 * 24 * 3600;

  /** Whose word counts. */
  public enum Kind {
    /** The engine's: it announces removals too. */
    OWN,
    /** A pool's: the engine's stores only teach what hashes mean. */
    POOL,
    /** The engine's, for some time. */
    TTL
  }

  /** The default: the engine is believed. */
  public static final LowerTier OWN = new LowerTier(Kind.OWN, null, 0);

  public LowerTier {
    Objects.requireNonNull(kind);
    if ((kind == Kind.POOL) != (pool != null && !pool.isEmpty())
        || (kind == Kind.TTL) != (ttlSeconds > 0)
        || ttlSeconds > MAX_SECONDS) {
      throw new IllegalArgumentException("no such lower tier: " + kind + " " + pool);
    }
  }

  /**
   * Reads {@code own}, {@code pool:<instance_id>} or {@code ttl:<seconds>}.
   *
   * @throws IllegalArgumentException saying what is allowed
   */
  public static LowerTier parse(String text) {
    int colon = text.indexOf(':');
    String kind = (colon < 0 ? text : text.substring(0, colon)).toLowerCase(Locale.ROOT);
    String rest = colon < 0 ? "" : text.substring(colon + 1);
    try {
      if (kind.equals("own") && colon < 0) {
        return OWN;
      } else if (kind.equals("pool") && !rest.isEmpty()) {
        return new LowerTier(Kind.POOL, rest, 0);
      } else if (kind.equals("ttl")) {
        return new LowerTier(Kind.TTL, null, Integer.parseInt(rest));
      }
    } catch (IllegalArgumentException e) {
      // Said below.
    }
    throw new IllegalArgumentException(
        "must be own, pool:<instance_id> or ttl:<seconds>, 1 to " + MAX_SECONDS + " seconds");
  }

  /** The text {@link #parse} reads. */
  public String text() {
    return switch (kind) {
      case OWN -> "own";
      case POOL -> "pool:" + pool;
      case TTL -> "ttl:" + ttlSeconds;
    };
  }
}
