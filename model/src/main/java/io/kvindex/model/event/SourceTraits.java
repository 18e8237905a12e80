// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.event;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.SourceType;
import java.util.Collections;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * What of a source's registration decides how its events are applied; in each record, so that a
 * replay of the log needs nothing from the side. Immutable.
 *
 * @param copies how repeated stores count
 * @param persistentMedia media whose blocks outlive the publisher's process, as {@link
 *     io.kvindex.model.Media#answerKey} names them
 * @param expirySeconds how long blocks on other media than the device count without being announced
 *     again, in the time of the log; 0 = for ever
 * @param shards objects that make a block, 1 to 64: they are its groups 0 to {@code shards - 1},
 *     and it counts when all are there
 */
public record SourceTraits(
    CopyPolicy copies, Set<String> persistentMedia, int expirySeconds, int shards) {

  /** Most objects a block may be made of: one bit each. */
  public static final int MAX_SHARDS = 64;

  public SourceTraits {
    Objects.requireNonNull(copies);
    persistentMedia = Collections.unmodifiableSet(new TreeSet<>(persistentMedia));
    if (expirySeconds < 0 || shards < 1 || shards > MAX_SHARDS) {
      throw new IllegalArgumentException("expiry of " + expirySeconds + " s, shards: " + shards);
    }
  }

  /** Those of a source of which only the way of counting is known. */
  public static SourceTraits of(CopyPolicy copies) {
    return new SourceTraits(copies, Set.of(), 0, 1);
  }

  /** Those of a source of that type whose registration says nothing of them. */
  public static SourceTraits defaultFor(SourceType type) {
    return of(CopyPolicy.defaultFor(type));
  }
}
