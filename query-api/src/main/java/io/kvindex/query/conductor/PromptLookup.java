// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.conductor;

import io.kvindex.model.event.StatedContext;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.http.QueryReply;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.match.InstanceSet;
import io.kvindex.query.match.MatchCounter;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryForm;
import io.kvindex.query.prompt.Contexts;
import io.kvindex.query.prompt.PromptWalk;
import io.kvindex.query.prompt.TrustHeaders;
import io.kvindex.query.registration.TableRows;
import io.kvindex.query.reply.JsonBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** One thread's lookups: walks the prompt and writes a row for each instance. */
final class PromptLookup {
  private static final int ALL = -1;

  private final IndexAccess index;
  private final PromptWalk walk = new PromptWalk();
  private final MatchCounter counter = new MatchCounter();
  private final TrustHeaders trust = new TrustHeaders();
  private boolean first;

  PromptLookup(IndexAccess index) {
    this.index = index;
  }

  /** Writes the rows of all tables, without the braces around them, and the trust headers. */
  void write(QueryForm form, QueryBody query, List<TableRows> tables, QueryReply reply) {
    trust.clear();
    first = true;
    for (TableRows rows : tables) {
      @Nullable String filter = query.instanceId();
      int only = filter == null ? ALL : rows.indexOf(filter);
      if (filter == null || only != ALL) {
        writeTable(form, query, rows, only, reply.body());
      }
    }
    trust.writeTo(reply);
  }

  private void writeTable(
      QueryForm form, QueryBody query, TableRows rows, int only, JsonBuffer out) {
    TableView view = index.view(rows.table());
    if (view == null) {
      throw ApiException.of(
          ErrorCode.NOT_READY, "the index of this model is not readable here yet; try again");
    }
    trust.add(view, rows);
    if (query.loraId() == QueryBody.NO_LORA_ID) {
      walk.walk(view, form, query, Contexts.of(query.loraName(), query.cacheSalt()), rows, counter);
      for (int i = 0; i < rows.instances().size(); i++) {
        writeRow(rows, i, only, out);
      }
      return;
    }
    byAdapterNames(view, query.loraId(), rows.instances())
        .forEach(
            (names, instances) -> {
              walk.walk(view, form, query, Contexts.of(names, query.cacheSalt()), rows, counter);
              instances.forEach(i -> writeRow(rows, i, only, out));
            });
  }

  /**
   * An id means another adapter on each instance: those for which it means the same go together.
   */
  private static Map<TreeSet<String>, List<Integer>> byAdapterNames(
      TableView view, long loraId, InstanceSet instances) {
    Map<TreeSet<String>, List<Integer>> groups = new LinkedHashMap<>();
    for (int i = 0; i < instances.size(); i++) {
      TreeSet<String> names = new TreeSet<>(view.loraNames(instances.get(i).instanceId(), loraId));
      names.add(StatedContext.nameOf(loraId));
      groups.computeIfAbsent(names, key -> new ArrayList<>()).add(i);
    }
    return groups;
  }

  private void writeRow(TableRows rows, int instance, int only, JsonBuffer out) {
    if (only != ALL && only != instance) {
      return;
    }
    if (!first) {
      out.raw(',');
    }
    first = false;
    out.raw(rows.jsonName(instance));
    RowWriter.write(out, counter, instance, rows.table().blockSize());
  }
}
