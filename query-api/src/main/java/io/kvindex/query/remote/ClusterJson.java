// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.query.remote.ReplicaStatus.Part;
import io.kvindex.query.remote.StatusWatch.Heard;
import io.kvindex.streams.Holders;
import io.kvindex.streams.IndexPartitions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Body of {@code GET /cluster}: what this replica knows of itself and was told by the others. */
final class ClusterJson {

  private final IndexPartitions here;
  private final StatusWatch others;

  ClusterJson(IndexPartitions here, StatusWatch others) {
    this.here = here;
    this.others = others;
  }

  ObjectNode describe() {
    ObjectNode out = JsonNodeFactory.instance.objectNode();
    out.put("answered_by", here.address());
    ArrayNode replicas = out.putArray("replicas");
    replicas.add(replica(here.address(), ReplicaStatus.of(here, List.of()), 0));
    long now = System.nanoTime();
    for (String other : here.otherReplicas()) {
      Heard heard = others.of(other);
      ObjectNode one =
          heard == null
              ? replica(other, null, -1)
              : replica(other, heard.status(), TimeUnit.NANOSECONDS.toMillis(now - heard.nanos()));
      String problem = others.problemOf(other);
      replicas.add(problem == null ? one : one.put("problem", problem));
    }
    ArrayNode partitions = out.putArray("partitions");
    for (int i = 0; i < here.partitions(); i++) {
      Holders holders = here.allHolders(i);
      ObjectNode one = partitions.addObject().put("partition", i).put("active", holders.active());
      ArrayNode standbys = one.putArray("standbys");
      holders.standbys().forEach(standbys::add);
    }
    return out;
  }

  /**
   * @param status null = it has not said anything yet
   */
  private ObjectNode replica(
      @Nullable String address, @Nullable ReplicaStatus status, long heardMs) {
    ObjectNode out = JsonNodeFactory.instance.objectNode();
    boolean reachable = status != null && heardMs <= StatusWatch.REACHABLE_MS;
    out.put("address", address)
        .put("reachable", reachable)
        .put("ready", reachable && status != null && status.notReady() == null);
    if (status == null) {
      return out;
    }
    out.put("heard_ms_ago", heardMs);
    if (status.notReady() != null) {
      out.put("not_ready_reason", status.notReady());
    }
    ArrayNode partitions = out.putArray("partitions");
    for (Part part : status.partitions()) {
      String role = role(address, part.partition());
      if (role != null) {
        partitions.add(partition(part, role));
      }
    }
    return out;
  }

  /** Null where it is neither. */
  private @Nullable String role(@Nullable String address, int partition) {
    Holders holders = here.allHolders(partition);
    if (address == null || address.equals(holders.active())) {
      return "active";
    }
    return holders.standbys().contains(address) ? "standby" : null;
  }

  private static ObjectNode partition(Part part, String role) {
    ObjectNode out = JsonNodeFactory.instance.objectNode();
    out.put("partition", part.partition())
        .put("role", role)
        .put("phase", part.progress().phase().wireName())
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
