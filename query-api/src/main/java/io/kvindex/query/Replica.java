// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.query.http.ReplicaQuestions;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.reply.ControlReplies;
import io.kvindex.streams.CheckpointLender;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What an API answers from.
 *
 * @param index all tables
 * @param questions answers what other replicas ask
 * @param cluster tells of all replicas: the body of {@code GET /cluster}; must not wait
 * @param lender lends checkpoints, null = none are lent
 */
public record Replica(
    IndexAccess index,
    ReplicaQuestions questions,
    Supplier<ObjectNode> cluster,
    @Nullable CheckpointLender lender) {

  /** One that knows of no others. */
  public static Replica alone(IndexAccess index) {
    return new Replica(index, ReplicaQuestions.NONE, Replica::noneKnown, null);
  }

  private static ObjectNode noneKnown() {
    ObjectNode body = ControlReplies.object();
    body.putArray("replicas");
    body.putArray("partitions");
    return body;
  }
}
