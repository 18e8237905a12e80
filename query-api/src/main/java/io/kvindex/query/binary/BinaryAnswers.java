// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.binary;

import io.kvindex.query.http.QueryAnswers;
import io.kvindex.query.http.QueryReply;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.match.TierCounter;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryForm;
import io.kvindex.query.prompt.Contexts;
import io.kvindex.query.prompt.PromptWalk;
import io.kvindex.query.prompt.TrustHeaders;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.query.registration.TableRows;
import io.kvindex.query.reply.MsgpackBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Supplier;

/**
 * {@code {"instances": {id: row}}}: the instances registered for the context, in order of their
 * names, with zeros where nothing matches; an empty map for an unknown tenant, model, block size,
 * adapter or instance. Source: Mooncake Conductor, C++ server at 19ffa6e4a.
 */
public final class BinaryAnswers implements QueryAnswers {
  private static final byte[] INSTANCES =
      "\u0081\u00a9instances".getBytes(StandardCharsets.ISO_8859_1);

  private final Supplier<RegistrationSnapshot> registrations;
  private final IndexAccess index;
  private final ThreadLocal<Lookup> lookups = ThreadLocal.withInitial(Lookup::new);

  public BinaryAnswers(Supplier<RegistrationSnapshot> registrations, IndexAccess index) {
    this.registrations = registrations;
    this.index = index;
  }

  /** What one thread needs from query to query. */
  private static final class Lookup {
    private final PromptWalk walk = new PromptWalk();
    private final TierCounter counter = new TierCounter();
    private final TrustHeaders trust = new TrustHeaders();
  }

  @Override
  public void answer(QueryForm form, QueryBody query, QueryReply reply) {
    List<TableRows> tables =
        registrations
            .get()
            .tables(query.tenant(), query.model())
            .getOrDefault(query.blockSize(), List.of());
    Lookup lookup = lookups.get();
    lookup.trust.clear();
    MsgpackBuffer out = reply.packed();
    int begun = out.raw(INSTANCES).beginMap();
    int rows = 0;
    for (TableRows table : tables) {
      rows += write(form, query, table, lookup, out);
    }
    out.endMap(begun, rows);
    lookup.trust.writeTo(reply);
  }

  /** Number of rows written. */
  private int write(
      QueryForm form, QueryBody query, TableRows rows, Lookup lookup, MsgpackBuffer out) {
    String filter = query.instanceId();
    int only = filter == null ? -1 : rows.indexOf(filter);
    if (filter != null && only < 0) {
      return 0;
    }
    TableView view =
        index.readable(rows.table()).within(query.deadline(), query.visibleFrom(rows.table()));
    TierCounter counter = lookup.counter;
    lookup.walk.walk(
        view, form, query, Contexts.ofRequest(query.loraName(), query.cacheSalt()), rows, counter);
    lookup.trust.add(view, rows);
    int from = filter == null ? 0 : only;
    int to = filter == null ? rows.instances().size() : only + 1;
    int written = 0;
    for (int i = from; i < to; i++) {
      // An adapter loaded at run time is registered by nobody and holds blocks all the same.
      if (rows.hasAdapter(i, query.loraName()) || TierRow.longest(counter, i) > 0) {
        out.string(rows.instances().get(i).instanceId());
        TierRow.write(out, counter, i, rows.table().blockSize());
        written++;
      }
    }
    return written;
  }
}
