// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.conductor;

import io.kvindex.query.http.QueryReply;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.match.MatchCounter;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryForm;
import io.kvindex.query.prompt.AdapterNames;
import io.kvindex.query.prompt.Contexts;
import io.kvindex.query.prompt.PromptWalk;
import io.kvindex.query.prompt.TrustHeaders;
import io.kvindex.query.registration.TableRows;
import io.kvindex.query.reply.JsonBuffer;
import java.util.List;
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
    TableView view =
        index.readable(rows.table()).within(query.deadline(), query.visibleFrom(rows.table()));
    if (query.loraId() == QueryBody.NO_LORA_ID) {
      walk.walk(view, form, query, Contexts.of(query.loraName(), query.cacheSalt()), rows, counter);
      for (int i = 0; i < rows.instances().size(); i++) {
        writeRow(rows, i, only, out);
      }
    } else {
      AdapterNames.byId(view, query.loraId(), rows.instances())
          .forEach(
              (names, instances) -> {
                walk.walk(view, form, query, Contexts.of(names, query.cacheSalt()), rows, counter);
                instances.forEach(i -> writeRow(rows, i, only, out));
              });
    }
    trust.add(view, rows);
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
