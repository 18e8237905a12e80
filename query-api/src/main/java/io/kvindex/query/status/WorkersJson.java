// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.status;

import io.kvindex.model.Incarnation;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.Connection;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.model.registration.Registration;
import io.kvindex.query.dialect.WorkerId;
import io.kvindex.query.reply.JsonBuffer;
import io.kvindex.streams.view.StreamPosition;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * {@code GET /workers}: one element per instance, in the shape of the Dynamo standalone indexer;
 * {@code tenant_id}, {@code type} and what is in a listener beyond endpoint, status and last_error
 * are ours.
 */
final class WorkersJson {
  private static final byte[] TRUE = "true".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] FALSE = "false".getBytes(StandardCharsets.US_ASCII);

  private final List<PublisherReport> reports;
  private final long nowMicros;
  private final JsonBuffer out = new JsonBuffer();

  /**
   * @param nowMicros what time it is, microseconds since the epoch
   */
  WorkersJson(List<PublisherReport> reports, long nowMicros) {
    this.reports = reports;
    this.nowMicros = nowMicros;
  }

  String write() {
    Map<List<Object>, List<PublisherReport>> workers = new LinkedHashMap<>();
    for (PublisherReport one : reports) {
      Registration r = one.registered().registration();
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
    for (List<PublisherReport> ranks : workers.values()) {
      if (!separator.isEmpty()) {
        out.raw(',');
      }
      separator = ",";
      worker(ranks);
    }
    return out.raw(']').asText();
  }

  private void worker(List<PublisherReport> ranks) {
    Registration r = ranks.get(0).registered().registration();
    String id = r.publisher().instanceId();
    out.raw('{').name("instance_id");
    if (WorkerId.isNumber(id)) { // to Dynamo's clients ids are numbers
      out.raw(id.getBytes(StandardCharsets.US_ASCII));
    } else {
      out.string(id);
    }
    out.raw(',').name("source").string("zmq");
    out.raw(',').name("status").string(aggregate(ranks));
    out.raw(',').name("model_name").string(r.table().model());
    out.raw(',').name("routing_group").string(r.publisher().tenantId());
    out.raw(',').name("tenant_id").string(r.publisher().tenantId());
    out.raw(',').name("block_size").number(r.table().blockSize());
    out.raw(',').name("type").string(r.type().wireName());
    Map<Integer, PublisherReport> byRank = new TreeMap<>();
    ranks.forEach(one -> byRank.put(one.registered().registration().publisher().dpRank(), one));
    out.raw(',').name("endpoints").raw('{');
    byRank.forEach(
        (rank, one) -> rankName(rank, byRank).string(one.registered().registration().endpoint()));
    out.raw('}').raw(',').name("listeners").raw('{');
    byRank.forEach(
        (rank, one) -> {
          rankName(rank, byRank);
          listener(one);
        });
    out.raw('}').raw('}');
  }

  private JsonBuffer rankName(Integer rank, Map<Integer, PublisherReport> all) {
    if (!rank.equals(all.keySet().iterator().next())) {
      out.raw(',');
    }
    return out.name(rank.toString());
  }

  private void listener(PublisherReport one) {
    Registration r = one.registered().registration();
    out.raw('{').name("endpoint").string(r.endpoint());
    out.raw(',').name("status").string(status(one.state()));
    out.raw(',').name("state").string(one.state().wireName());
    out.raw(',').name("generation").number(one.registered().generation());
    StreamPosition visible = one.visible();
    Long whole = visible == null ? null : visible.lastWhole();
    if (whole != null) {
      out.raw(',').name("visible_event_id").unsigned(whole);
    }
    if (visible != null) {
      out.raw(',').name("visible_gaps").number(visible.gaps());
      incarnation(visible.incarnation());
    }
    optional("lag_batches", one.lagBatches());
    optional("lag_ms", one.lagMs(nowMicros));
    numbers("blocks", one.blocks());
    out.raw(',').name("unverified").raw('[');
    String separator = "";
    for (String what : one.unverified()) {
      if (!separator.isEmpty()) {
        out.raw(',');
      }
      separator = ",";
      out.string(what);
    }
    out.raw(']');
    BridgeProgress heard = one.heard();
    if (heard != null) {
      heard(heard);
    }
    out.raw('}');
  }

  private void incarnation(Incarnation visible) {
    out.raw(',').name("visible_incarnation").raw('{');
    out.name("generation").number(visible.generation());
    out.raw(',').name("life").number(visible.life());
    out.raw(',').name("clears").number(visible.clears()).raw('}');
  }

  private void heard(BridgeProgress heard) {
    optional("life", heard.life());
    optional("clears", heard.clears());
    Long last = heard.lastSequence();
    if (last != null) {
      out.raw(',').name("last_sequence").unsigned(last);
    }
    if (heard.lastTimeMicros() != 0) {
      time("last_event_time", heard.lastTimeMicros());
    }
    Connection connection = heard.connection();
    if (connection != null) {
      out.raw(',').name("connected").raw(connection.up() ? TRUE : FALSE);
      out.raw(',').name("proven").raw(connection.proven() ? TRUE : FALSE);
      time("connection_since", connection.sinceMicros());
    }
    String error = heard.lastError();
    if (error != null) {
      out.raw(',').name("last_error").string(error);
    }
    numbers("counters", heard.counters());
  }

  private void time(String name, long micros) {
    String text = Instant.EPOCH.plus(micros, ChronoUnit.MICROS).toString();
    out.raw(',').name(name).string(text);
  }

  private void optional(String name, @Nullable Long number) {
    if (number != null) {
      out.raw(',').name(name).number(number);
    }
  }

  private void numbers(String name, Map<String, Long> numbers) {
    out.raw(',').name(name).raw('{');
    String separator = "";
    for (Map.Entry<String, Long> number : new TreeMap<>(numbers).entrySet()) {
      if (!separator.isEmpty()) {
        out.raw(',');
      }
      separator = ",";
      out.name(number.getKey()).number(number.getValue());
    }
    out.raw('}');
  }

  private String aggregate(List<PublisherReport> ranks) {
    boolean pending = false;
    for (PublisherReport one : ranks) {
      String status = status(one.state());
      if (status.equals("failed")) {
        return status;
      }
      pending |= status.equals("pending");
    }
    return pending ? "pending" : "active";
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
