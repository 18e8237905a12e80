// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.model.replica.ReplicaId;
import io.kvindex.query.remote.ReplicaStatus.Part;
import io.kvindex.query.remote.ReplicaWatch.Heard;
import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.PartitionProgress.Phase;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Body of {@code GET /cluster}: what this replica knows of itself and was told by the others. */
record ClusterJson(ReplicaId id, IndexPartitions here, ReplicaWatch others) {

  ObjectNode describe() {
    ObjectNode out = JsonNodeFactory.instance.objectNode();
    out.put("answered_by", id.address());
    ArrayNode replicas = out.putArray("replicas");
    ReplicaStatus own = ReplicaStatus.of(id, here);
    replicas.add(replica(id.address(), own, true, 0));
    long now = System.nanoTime();
    for (String other : others.others()) {
      Heard heard = others.of(other);
      ObjectNode one =
          heard == null
              ? replica(other, null, false, 0)
              : replica(
                  other,
                  heard.status(),
                  !others.isDead(other),
                  TimeUnit.NANOSECONDS.toMillis(now - heard.nanos()));
      String problem = others.problemOf(other);
      replicas.add(problem == null ? one : one.put("problem", problem));
    }
    ArrayNode partitions = out.putArray("partitions");
    for (int i = 0; i < here.partitions(); i++) {
      ArrayNode holders = partitions.addObject().put("partition", i).putArray("holders");
      holders(i, own).forEach(holders::add);
    }
    return out;
  }

  /** Who lives and has a table of it; those that are kept up first, and of them this one. */
  private List<String> holders(int partition, ReplicaStatus own) {
    List<String> ready = new ArrayList<>();
    List<String> behind = new ArrayList<>();
    sort(id.address(), own, partition, ready, behind);
    for (String other : others.others()) {
      Heard heard = others.of(other);
      if (heard != null && !others.isDead(other)) {
        sort(other, heard.status(), partition, ready, behind);
      }
    }
    ready.addAll(behind);
    return ready;
  }

  private static void sort(
      String address,
      ReplicaStatus status,
      int partition,
      List<String> ready,
      List<String> behind) {
    Part part = status.part(partition);
    if (part != null && part.hasTable()) {
      (part.progress().phase() == Phase.READY ? ready : behind).add(address);
    }
  }

  /**
   * @param status null = it has not said anything yet
   */
  private static ObjectNode replica(
      String address, @Nullable ReplicaStatus status, boolean isReachable, long heardMs) {
    ObjectNode out = JsonNodeFactory.instance.objectNode();
    out.put("address", address)
        .put("reachable", isReachable)
        .put("ready", isReachable && status != null && status.notReady() == null);
    if (status == null) {
      return out;
    }
    out.put("copy", status.copy()).put("version", status.version()).put("heard_ms_ago", heardMs);
    if (status.notReady() != null) {
      out.put("not_ready_reason", status.notReady());
    }
    ArrayNode partitions = out.putArray("partitions");
    for (Part part : status.partitions()) {
      if (part.progress().phase() != Phase.ABSENT) {
        partitions.add(partition(part));
      }
    }
    return out;
  }

  private static ObjectNode partition(Part part) {
    ObjectNode out = JsonNodeFactory.instance.objectNode();
    out.put("partition", part.partition())
        .put("phase", part.progress().phase().wireName())
        .put("since", part.since())
        .put("records_behind", part.recordsBehind())
        .put("applied_offset", part.appliedOffset());
    if (part.progress().total() > 0) {
      out.put("done", part.progress().done())
          .put("total", part.progress().total())
          .put("per_second", part.progress().perSecond());
    }
    return out;
  }
}
