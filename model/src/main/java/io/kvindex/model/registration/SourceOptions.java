// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.registration;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Media;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.event.SourceTraits;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The members of a registration that have a sensible default. Immutable.
 *
 * @param copies how repeated stores count
 * @param pools instance ids of the pools that serve this instance, null = all of its context
 * @param topic ZMQ topic to subscribe to, empty = all
 * @param persistentMedia media that outlive the publisher's process, as {@link Media#answerKey}
 *     names them
 * @param lowerTier what its stores on other media than the device mean
 * @param shards objects a block of a pool is made of, null = not told
 * @param expirySeconds how long a pool's blocks count without being announced again, 0 = for ever
 * @param addressTiers for events that name the address of a replica and no medium: medium by a part
 *     of the address, in order, the first one found counts; none found = the host
 * @param poolGroups numbers of the attention groups that need every block of a prefix, as a pool's
 *     keys are labelled with them, ascending; a block needs the objects of all. Null = not told:
 *     then group 0 is taken for the only one
 * @param clearScope media an engine's clear empties where the event names none, null = as its type
 *     does; never {@link ClearScope#STREAM}
 * @param removalScope what a removal by a pool means, null = every medium until the stream shows
 *     otherwise
 * @param loraPaths where an engine loads its adapters from, by their names: vLLM since 0.32 has the
 *     path in its hashes and in no event
 * @param detached whether the publisher goes once it has told everything, as a file that is brought
 *     in does: what it told counts without a connection
 */
public record SourceOptions(
    CopyPolicy copies,
    @Nullable List<String> pools,
    String topic,
    Set<String> persistentMedia,
    LowerTier lowerTier,
    @Nullable Shards shards,
    int expirySeconds,
    Map<String, String> addressTiers,
    @Nullable List<Integer> poolGroups,
    @Nullable ClearScope clearScope,
    @Nullable RemovalScope removalScope,
    Map<String, String> loraPaths,
    boolean detached) {

  /** How topics of LMCache's nodes begin: {@code kv@node:N@model} (LMCache#4768). */
  public static final String LMCACHE_NODE = "kv@node:";

  /** How topics of LMCache's pools begin: {@code kv@pool:P@model}. */
  public static final String LMCACHE_POOL = "kv@pool:";

  /** For how long stores count that nobody announces the end of, unless it is said; seconds. */
  static final int UNANNOUNCED_SECONDS = 600;

  /** Most groups of a pool; the objects of all groups together are {@link Shards#MAX} at most. */
  public static final int MAX_POOL_GROUPS = 16;

  public SourceOptions {
    Objects.requireNonNull(copies);
    Objects.requireNonNull(topic);
    Objects.requireNonNull(lowerTier);
    pools = pools == null ? null : List.copyOf(pools);
    Set<String> named = new TreeSet<>();
    persistentMedia.forEach(medium -> named.add(Media.standard().answerKey(medium)));
    persistentMedia = Collections.unmodifiableSet(named);
    addressTiers = Collections.unmodifiableMap(new LinkedHashMap<>(addressTiers));
    loraPaths = Collections.unmodifiableMap(new TreeMap<>(loraPaths));
    if (expirySeconds < 0 || expirySeconds > LowerTier.MAX_SECONDS) {
      throw new IllegalArgumentException("expiry of " + expirySeconds + " s");
    }
    poolGroups = poolGroups == null ? null : poolGroups.stream().sorted().distinct().toList();
    if (poolGroups != null && (poolGroups.isEmpty() || poolGroups.size() > MAX_POOL_GROUPS)) {
      throw new IllegalArgumentException(poolGroups.size() + " groups of a pool");
    } else if (objects(shards, poolGroups) > Shards.MAX) {
      throw new IllegalArgumentException(
          "a block of " + objects(shards, poolGroups) + " objects; " + Shards.MAX + " at most");
    } else if (clearScope == ClearScope.STREAM) {
      throw new IllegalArgumentException("only the standard's own clear is of one stream");
    }
  }

  private static int objects(@Nullable Shards shards, @Nullable List<Integer> poolGroups) {
    return (shards == null ? 1 : shards.count()) * (poolGroups == null ? 1 : poolGroups.size());
  }

  /** What holds where a registration says nothing. */
  public static SourceOptions defaultFor(SourceType type) {
    return of(CopyPolicy.defaultFor(type));
  }

  /** The defaults with that way of counting. */
  public static SourceOptions of(CopyPolicy copies) {
    return new SourceOptions(
        copies,
        null,
        "",
        Set.of(),
        LowerTier.OWN,
        null,
        0,
        Map.of(),
        null,
        null,
        null,
        Map.of(),
        false);
  }

  /** The same with other paths of adapters. */
  public SourceOptions withLoraPaths(Map<String, String> paths) {
    return with(clearScope, paths);
  }

  /** The same where a clear empties these media. */
  public SourceOptions withClearScope(@Nullable ClearScope scope) {
    return with(scope, loraPaths);
  }

  private SourceOptions with(@Nullable ClearScope clears, Map<String, String> paths) {
    return new SourceOptions(
        copies,
        pools,
        topic,
        persistentMedia,
        lowerTier,
        shards,
        expirySeconds,
        addressTiers,
        poolGroups,
        clears,
        removalScope,
        paths,
        detached);
  }

  /** What the log has to know of them. */
  public SourceTraits traits() {
    return traits(false);
  }

  /**
   * The same of a source whose events may have shown that it speaks for a connector to a store,
   * which announces what it stores and never what is gone.
   *
   * @param connector whether they have; a topic of LMCache says so, too
   */
  public SourceTraits traits(boolean connector) {
    int expiry = lowerTier.kind() == LowerTier.Kind.TTL ? lowerTier.ttlSeconds() : expirySeconds;
    boolean unannounced =
        connector || topic.startsWith(LMCACHE_NODE) || topic.startsWith(LMCACHE_POOL);
    if (expiry == 0 && unannounced && lowerTier.kind() == LowerTier.Kind.OWN) {
      expiry = UNANNOUNCED_SECONDS;
    }
    return new SourceTraits(copies, persistentMedia, expiry, objects(shards, poolGroups));
  }
}
