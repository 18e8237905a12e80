// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.status;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.Connection;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.model.registration.Registration;
import io.kvindex.query.dialect.WorkerId;
import io.kvindex.query.reply.ControlReplies;
import io.kvindex.streams.view.StreamPosition;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * {@code GET /workers}: one element per instance, in the shape of the Dynamo standalone indexer;
 * {@code tenant_id}, {@code type} and what is in a listener beyond endpoint, status and last_error
 * are ours.
 *
 * @param nowMicros what time it is, microseconds since the epoch
 */
record WorkersJson(List<PublisherReport> reports, long nowMicros) {

  String write() {
    Map<List<Object>, Map<Integer, PublisherReport>> workers = new LinkedHashMap<>();
    for (PublisherReport one : reports) {
      Registration r = one.registered().registration();
      List<Object> key =
          List.of(
              r.publisher().instanceId(),
              r.publisher().tenantId(),
              r.table().model(),
              r.table().blockSize());
      workers.computeIfAbsent(key, worker -> new TreeMap<>()).put(r.publisher().dpRank(), one);
    }
    ArrayNode out = JsonNodeFactory.instance.arrayNode();
    workers.values().forEach(ranks -> worker(ranks, out.addObject()));
    return out.toString();
  }

  private void worker(Map<Integer, PublisherReport> ranks, ObjectNode out) {
    Registration r = ranks.values().iterator().next().registered().registration();
    String id = r.publisher().instanceId();
    if (WorkerId.isNumber(id)) { // to Dynamo's clients ids are numbers
      out.put("instance_id", ControlReplies.unsigned(WorkerId.of(id)));
    } else {
      out.put("instance_id", id);
    }
    out.put("source", "zmq")
        .put("status", aggregate(ranks.values()))
        .put("model_name", r.table().model())
        .put("routing_group", r.publisher().tenantId())
        .put("tenant_id", r.publisher().tenantId())
        .put("block_size", r.table().blockSize())
        .put("type", r.type().wireName());
    ObjectNode endpoints = out.putObject("endpoints");
    ObjectNode listeners = out.putObject("listeners");
    ranks.forEach(
        (rank, one) -> {
          endpoints.put(rank.toString(), one.registered().registration().endpoint());
          listener(one, listeners.putObject(rank.toString()));
        });
  }

  private void listener(PublisherReport one, ObjectNode out) {
    out.put("endpoint", one.registered().registration().endpoint())
        .put("status", status(one.state()))
        .put("state", one.state().wireName())
        .put("generation", one.registered().generation());
    StreamPosition visible = one.visible();
    if (visible != null) {
      optional(out, "visible_event_id", visible.lastWhole());
      out.put("visible_gaps", visible.gaps());
      out.putObject("visible_incarnation")
          .put("generation", visible.incarnation().generation())
          .put("life", visible.incarnation().life())
          .put("clears", visible.incarnation().clears());
    }
    optional(out, "lag_batches", one.lagBatches());
    optional(out, "lag_ms", one.lagMs(nowMicros));
    numbers(out.putObject("blocks"), one.blocks());
    one.unverified().forEach(out.putArray("unverified")::add);
    BridgeProgress heard = one.heard();
    if (heard != null) {
      heard(heard, out);
    }
  }

  private static void heard(BridgeProgress heard, ObjectNode out) {
    if (heard.life() != null) {
      out.put("life", heard.life());
    }
    out.put("clears", heard.clears());
    optional(out, "last_sequence", heard.lastSequence());
    if (heard.lastTimeMicros() != 0) {
      out.put("last_event_time", time(heard.lastTimeMicros()));
    }
    Connection connection = heard.connection();
    if (connection != null) {
      out.put("connected", connection.up())
          .put("proven", connection.proven())
          .put("connection_since", time(connection.sinceMicros()));
    }
    if (heard.lastError() != null) {
      out.put("last_error", heard.lastError());
    }
    numbers(out.putObject("counters"), heard.counters());
  }

  private static String time(long micros) {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS).toString();
  }

  /** A number whose 64 bits are unsigned, where there is one. */
  private static void optional(ObjectNode out, String name, @Nullable Long number) {
    if (number != null) {
      out.put(name, ControlReplies.unsigned(number));
    }
  }

  private static void numbers(ObjectNode out, Map<String, Long> numbers) {
    new TreeMap<>(numbers).forEach(out::put);
  }

  private static String aggregate(Collection<PublisherReport> ranks) {
    List<String> statuses = new ArrayList<>();
    ranks.forEach(one -> statuses.add(status(one.state())));
    for (String worst : List.of("failed", "pending")) {
      if (statuses.contains(worst)) {
        return worst;
      }
    }
    return "active";
  }

  /** Our states within the four values of that API. */
  static String status(PublisherState state) {
    return switch (state) {
      case PENDING, REPLAYING -> "pending";
      case ACTIVE, DEGRADED -> "active";
      case MISMATCHED, FAILED -> "failed";
    };
  }
}
