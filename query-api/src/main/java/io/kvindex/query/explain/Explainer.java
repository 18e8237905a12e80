// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.explain;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.model.Media;
import io.kvindex.query.http.EventVisibility;
import io.kvindex.query.http.QueryAnswers.Asked;
import io.kvindex.query.http.QueryReply;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.parse.MinEvent;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.query.registration.TableRows;
import io.kvindex.query.status.PublisherReports;
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
  private final PublisherReports sources;
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
      PublisherReports sources,
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
    Explanation explanation =
        new Explanation(index, media, query, sources.now(), System.currentTimeMillis());
    ObjectNode out = JsonNodeFactory.instance.objectNode();
    describe(query, out.putObject("query"));
    out.putObject("replica")
        .put("address", asked.address())
        .put("pid", ProcessHandle.current().pid());
    ArrayNode tables = out.putArray("tables");
    tables(query).forEach(rows -> tables.add(explanation.table(rows)));
    long parse = asked.parsedNanos() - asked.startNanos();
    long total = System.nanoTime() - asked.startNanos();
    out.putObject("timing_us")
        .put("parse", TimeUnit.NANOSECONDS.toMicros(parse))
        .put("hash_and_walk", TimeUnit.NANOSECONDS.toMicros(explanation.walkNanos()))
        .put("total", TimeUnit.NANOSECONDS.toMicros(total));
    reply.body().raw(out.toString().getBytes(StandardCharsets.UTF_8));
    explanation.trustTo(reply);
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
}
