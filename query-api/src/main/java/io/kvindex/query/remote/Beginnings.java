// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.query.remote.ReplicaStatus.Part;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * From which offsets the other replicas' tables were folded, as each said last: one that loads its
 * table says nothing, and has what it had. Thread-safe.
 */
final class Beginnings {
  private static final long UNKNOWN = Long.MAX_VALUE;

  private final int partitions;
  private final Map<String, long[]> byAddress = new ConcurrentHashMap<>();

  Beginnings(int partitions) {
    this.partitions = partitions;
  }

  void heard(String address, ReplicaStatus status) {
    byAddress.compute(address, (same, before) -> after(before, status));
  }

  private long[] after(long @Nullable [] before, ReplicaStatus status) {
    long[] now = before == null ? new long[partitions] : before.clone();
    if (before == null) {
      Arrays.fill(now, UNKNOWN);
    }
    for (Part part : status.partitions()) {
      if (part.hasTable() && part.partition() < partitions) {
        now[part.partition()] = part.since();
      }
    }
    return now;
  }

  /** Another process is there, or none any more. */
  void forget(String address) {
    byAddress.remove(address);
  }

  void retain(Collection<String> addresses) {
    byAddress.keySet().retainAll(addresses);
  }

  /** The earliest of a partition, {@link Long#MAX_VALUE} = none is known. */
  long earliest(int partition) {
    long earliest = UNKNOWN;
    for (long[] each : byAddress.values()) {
      earliest = Math.min(earliest, each[partition]);
    }
    return earliest;
  }
}
