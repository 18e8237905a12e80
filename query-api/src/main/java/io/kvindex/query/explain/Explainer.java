// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.explain;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.model.Media;
import io.kvindex.model.TableId;
import io.kvindex.query.explain.InstanceRuns.Run;
import io.kvindex.query.http.EventVisibility;
import io.kvindex.query.http.QueryAnswers.Asked;
import io.kvindex.query.http.QueryReply;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.parse.MinEvent;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryForm;
import io.kvindex.query.prompt.AdapterNames;
import io.kvindex.query.prompt.Contexts;
import io.kvindex.query.prompt.Contexts.Names;
import io.kvindex.query.prompt.PromptWalk;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.query.registration.TableRows;
import io.kvindex.query.reply.ControlReplies;
import io.kvindex.query.status.PublisherReport;
import io.kvindex.streams.view.StreamPosition;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.NavigableMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * {@code POST /explain} with a body of {@code /query}: for each instance where and why its prefix
 * ended. Explains all block sizes where the query names none. Thread-safe.
 */
public final class Explainer {
  private final Supplier<RegistrationSnapshot> registrations;
  private final IndexAccess index;
  private final Supplier<List<PublisherReport>> sources;
  private final EventVisibility events;
  private final Media media;

  /**
   * @param sources what is known of the publishers
   * @param events how far they are visible
   * @param media how owners' media are counted
   */
  public Explainer(
      Supplier<RegistrationSnapshot> registrations,
      IndexAccess index,
      Supplier<List<PublisherReport>> sources,
      EventVisibility events,
      Media media) {
    this.registrations = registrations;
    this.index = index;
    this.sources = sources;
    this.events = events;
    this.media = media;
  }

  /**
   * Writes the explanation, and how far to trust it as of an answer.
   *
   * @throws io.kvindex.query.error.ApiException (503) where a table can not be read, or the query's
   *     deadline is past
   */
  public void explain(QueryBody query, Asked asked, QueryReply reply) {
    Explanation explanation = new Explanation(query, sources.get(), System.currentTimeMillis());
    reply.begin();
    ObjectNode out = ControlReplies.object();
    describe(query, out.putObject("query"));
    out.putObject("replica")
        .put("address", asked.address())
        .put("pid", ProcessHandle.current().pid());
    ArrayNode tables = out.putArray("tables");
    tables(query).forEach(rows -> tables.add(explanation.table(rows, reply)));
    long parse = asked.parsedNanos() - asked.startNanos();
    long total = System.nanoTime() - asked.startNanos();
    out.putObject("timing_us")
        .put("parse", TimeUnit.NANOSECONDS.toMicros(parse))
        .put("hash_and_walk", TimeUnit.NANOSECONDS.toMicros(explanation.walkNanos))
        .put("total", TimeUnit.NANOSECONDS.toMicros(total));
    reply.body().raw(out.toString().getBytes(StandardCharsets.UTF_8));
  }

  private void describe(QueryBody query, ObjectNode out) {
    out.put("dialect", query.dialect().name().toLowerCase(Locale.ROOT))
        .put("tenant_id", query.tenant())
        .put("model", query.model())
        .put("lora_name", query.loraName())
        .put("cache_salt", query.cacheSalt())
        .put("tokens", query.count());
    MinEvent event = query.minEvent();
    if (event != null) {
      out.putObject("min_event")
          .put("visible", events.isVisible(query.tenant(), event))
          .put("how_far", events.howFar(query.tenant(), event));
    }
  }

  private List<TableRows> tables(QueryBody query) {
    NavigableMap<Integer, List<TableRows>> sizes =
        registrations.get().tables(query.tenant(), query.model());
    return query.blockSize() == QueryBody.NO_BLOCK_SIZE
        ? sizes.values().stream().flatMap(List::stream).toList()
        : sizes.getOrDefault(query.blockSize(), List.of());
  }

  /** Explains one query, table by table. For one request. */
  private final class Explanation {
    private final QueryBody query;
    private final List<PublisherReport> reports;
    private final long nowMillis;
    private final PromptWalk walk = new PromptWalk();
    private long walkNanos;

    /**
     * @param reports what is known of all publishers
     * @param nowMillis what time it is, milliseconds since the epoch
     */
    Explanation(QueryBody query, List<PublisherReport> reports, long nowMillis) {
      this.query = query;
      this.reports = reports;
      this.nowMillis = nowMillis;
    }

    ObjectNode table(TableRows rows, QueryReply reply) {
      TableId table = rows.table();
      TableView view = index.readable(table).within(query.deadline(), query.visibleFrom(table));
      int partition = index.partitionOf(table);
      int blocks = query.count() / table.blockSize();
      ArrayNode instances = JsonNodeFactory.instance.arrayNode();
      AdapterNames.groups(view, query, rows.instances())
          .forEach(
              (names, members) -> {
                RunRecorder runs =
                    walked(view, rows, Contexts.of(names, query.cacheSalt()), blocks);
                List<String> degraded = rows.degraded(view.degradedPublishers());
                for (int i : members) {
                  if (isWanted(rows, i)) {
                    instances.add(instance(rows, i, runs.of(i), degraded));
                  }
                }
              });
      reply.madeFrom(view, rows.degraded(view.degradedPublishers()));
      ObjectNode out = ControlReplies.object();
      out.put("tenant_id", table.tenantId())
          .put("model", table.model())
          .put("block_size", table.blockSize())
          .put("hash_profile", table.hashProfile().label())
          .put("partition", partition < 0 ? null : partition)
          .put("state", view.trust().headerValue())
          .put("lag_ms", view.lagMs())
          .put("blocks", blocks);
      if (view.answeredBy() != null) {
        out.put("answered_by", view.answeredBy());
      }
      out.set("instances", instances);
      return out;
    }

    private RunRecorder walked(TableView view, TableRows rows, List<Names> contexts, int blocks) {
      RunRecorder runs = new RunRecorder(media, rows.instances(), blocks);
      long start = System.nanoTime();
      walk.walk(view, QueryForm.TOKENS, query, contexts, rows, runs);
      walkNanos += System.nanoTime() - start;
      return runs;
    }

    private boolean isWanted(TableRows rows, int instance) {
      String only = query.instanceId();
      return only == null || only.equals(rows.instances().get(instance).instanceId());
    }

    private ObjectNode instance(TableRows rows, int i, InstanceRuns runs, List<String> degraded) {
      String id = rows.instances().get(i).instanceId();
      ObjectNode out = ControlReplies.object();
      out.put("instance_id", id)
          .put("matched_blocks", runs.matched())
          .put("matched_tokens", (long) runs.matched() * rows.table().blockSize())
          .put("ended", runs.end().name().toLowerCase(Locale.ROOT))
          .put("degraded", degraded.contains(id));
      ArrayNode held = out.putArray("runs");
      for (Run run : runs.runs()) {
        ArrayNode on =
            held.addObject().put("from", run.from()).put("to", run.to()).putArray("media");
        run.media().forEach(on::add);
      }
      if (runs.omitted() > 0) {
        out.put("runs_omitted", runs.omitted());
      }
      ArrayNode publishers = out.putArray("sources");
      for (PublisherReport one : reports) {
        if (one.registered().registration().publisher().instanceId().equals(id)
            && one.registered().registration().table().equals(rows.table())) {
          publishers.add(source(one));
        }
      }
      return out;
    }

    private ObjectNode source(PublisherReport one) {
      ObjectNode out = ControlReplies.object();
      out.put("dp_rank", one.registered().registration().publisher().dpRank())
          .put("state", one.state().wireName());
      StreamPosition visible = one.visible();
      if (visible == null) {
        return out;
      }
      ObjectNode incarnation = out.putObject("incarnation");
      incarnation
          .put("generation", visible.incarnation().generation())
          .put("life", visible.incarnation().life())
          .put("clears", visible.incarnation().clears());
      Long last = visible.lastWhole();
      if (last != null) {
        out.put("visible_event_id", new BigInteger(Long.toUnsignedString(last)));
      }
      if (visible.sourceTimeMicros() > 0) {
        long millis = TimeUnit.MICROSECONDS.toMillis(visible.sourceTimeMicros());
        out.put("last_event_age_ms", Math.max(0, nowMillis - millis));
      }
      out.put("gaps", visible.gaps());
      return out;
    }
  }
}
