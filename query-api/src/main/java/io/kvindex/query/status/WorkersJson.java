// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.status;

import io.kvindex.model.PublisherId;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.model.registration.Registration;
import io.kvindex.query.registration.Registered;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.query.reply.JsonBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * {@code GET /workers}: one element per instance, in the shape of the Dynamo standalone indexer;
 * {@code tenant_id}, {@code type} and what is in a listener beyond endpoint, status and last_error
 * are ours.
 */
final class WorkersJson {
  private final RegistrationSnapshot registrations;
  private final Function<PublisherId, @Nullable BridgeProgress> progress;
  private final Function<PublisherId, @Nullable Long> visible;
  private final JsonBuffer out = new JsonBuffer();

  /**
   * @param progress what the bridge last said of a publisher
   * @param visible last event id of a publisher that queries see
   */
  WorkersJson(
      RegistrationSnapshot registrations,
      Function<PublisherId, @Nullable BridgeProgress> progress,
      Function<PublisherId, @Nullable Long> visible) {
    this.registrations = registrations;
    this.progress = progress;
    this.visible = visible;
  }

  String write() {
    Map<List<Object>, List<Registered>> workers = new LinkedHashMap<>();
    for (Registered one : registrations.all()) {
      Registration r = one.registration();
      List<Object> key =
          List.of(
              r.publisher().instanceId(),
              r.publisher().tenantId(),
              r.table().model(),
              r.table().blockSize());
      workers.computeIfAbsent(key, worker -> new ArrayList<>()).add(one);
    }
    out.raw('[');
    String separator = "";
    for (List<Registered> ranks : workers.values()) {
      if (!separator.isEmpty()) {
        out.raw(',');
      }
      separator = ",";
      worker(ranks);
    }
    return out.raw(']').asText();
  }

  private void worker(List<Registered> ranks) {
    Registration r = ranks.get(0).registration();
    out.raw('{').name("instance_id").string(r.publisher().instanceId());
    out.raw(',').name("source").string("zmq");
    out.raw(',').name("status").string(aggregate(ranks));
    out.raw(',').name("model_name").string(r.table().model());
    out.raw(',').name("routing_group").string(r.publisher().tenantId());
    out.raw(',').name("tenant_id").string(r.publisher().tenantId());
    out.raw(',').name("block_size").number(r.table().blockSize());
    out.raw(',').name("type").string(r.type().wireName());
    Map<Integer, Registered> byRank = new TreeMap<>();
    ranks.forEach(one -> byRank.put(one.registration().publisher().dpRank(), one));
    out.raw(',').name("endpoints").raw('{');
    byRank.forEach((rank, one) -> rankName(rank, byRank).string(one.registration().endpoint()));
    out.raw('}').raw(',').name("listeners").raw('{');
    byRank.forEach(
        (rank, one) -> {
          rankName(rank, byRank);
          listener(one);
        });
    out.raw('}').raw('}');
  }

  private JsonBuffer rankName(Integer rank, Map<Integer, Registered> all) {
    if (!rank.equals(all.keySet().iterator().next())) {
      out.raw(',');
    }
    return out.name(rank.toString());
  }

  private void listener(Registered one) {
    Registration r = one.registration();
    BridgeProgress heard = progressOf(one);
    PublisherState state = heard == null ? PublisherState.PENDING : heard.state();
    out.raw('{').name("endpoint").string(r.endpoint());
    out.raw(',').name("status").string(status(state));
    out.raw(',').name("state").string(state.wireName());
    out.raw(',').name("generation").number(one.generation());
    @Nullable Long seen = visible.apply(r.publisher());
    if (seen != null) {
      out.raw(',').name("visible_event_id").number(seen);
    }
    if (heard != null) {
      @Nullable Long last = heard.lastSequence();
      if (last != null) {
        out.raw(',').name("last_sequence").number(last);
      }
      @Nullable String error = heard.lastError();
      if (error != null) {
        out.raw(',').name("last_error").string(error);
      }
      out.raw(',').name("counters").raw('{');
      String separator = "";
      for (Map.Entry<String, Long> counter : new TreeMap<>(heard.counters()).entrySet()) {
        if (!separator.isEmpty()) {
          out.raw(',');
        }
        separator = ",";
        out.name(counter.getKey()).number(counter.getValue());
      }
      out.raw('}');
    }
    out.raw('}');
  }

  /** What was said of an earlier generation does not hold for this one. */
  private @Nullable BridgeProgress progressOf(Registered one) {
    BridgeProgress heard = progress.apply(one.registration().publisher());
    return heard == null || heard.generation() != one.generation() ? null : heard;
  }

  private String aggregate(List<Registered> ranks) {
    boolean pending = false;
    for (Registered one : ranks) {
      BridgeProgress heard = progressOf(one);
      String status = heard == null ? "pending" : status(heard.state());
      if (status.equals("failed")) {
        return status;
      }
      pending |= status.equals("pending");
    }
    return pending ? "pending" : "active";
  }

  /** Our states within the four values of that API. */
  private static String status(PublisherState state) {
    return switch (state) {
      case PENDING, REPLAYING -> "pending";
      case ACTIVE, DEGRADED -> "active";
      case MISMATCHED, FAILED -> "failed";
    };
  }
}
