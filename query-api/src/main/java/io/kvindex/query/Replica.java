// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query;

import io.kvindex.query.http.ReplicaQuestions;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.overview.Cluster;
import io.kvindex.streams.CheckpointLender;
import org.jspecify.annotations.Nullable;

/**
 * What an API answers from.
 *
 * @param index all tables
 * @param questions answers what other replicas ask
 * @param cluster tells of all replicas
 * @param lender lends checkpoints, null = none are lent
 */
public record Replica(
    IndexAccess index,
    ReplicaQuestions questions,
    Cluster cluster,
    @Nullable CheckpointLender lender) {

  /** One that knows of no others. */
  public static Replica alone(IndexAccess index) {
    return new Replica(index, ReplicaQuestions.NONE, Cluster.UNKNOWN, null);
  }
}
