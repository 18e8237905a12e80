// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.conductor;

import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.http.QueryAnswers;
import io.kvindex.query.http.QueryReply;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.match.MatchCounter;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryForm;
import io.kvindex.query.prompt.AdapterNames;
import io.kvindex.query.prompt.Contexts;
import io.kvindex.query.prompt.PromptWalk;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.query.registration.TableRows;
import io.kvindex.query.reply.JsonBuffer;
import java.util.List;
import java.util.NavigableMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * {@code {tenant: {instance: row}}}. The tenant is always there; unknown tenant, model, block size
 * or instance is an empty answer, unknown adapter or salt are rows of zeros. For one thread.
 */
public final class ConductorAnswers implements QueryAnswers {
  /** Places of the standing media in {@link MatchCounter}. */
  private static final int GPU = 0;

  private static final int CPU = 1;
  private static final int DISK = 2;

  private static final int ALL = -1;

  private static final byte[] LONGEST = JsonBuffer.ascii("{\"longest_matched\":");
  private static final byte[] GPU_NAME = JsonBuffer.ascii(",\"GPU\":");
  private static final byte[] DP_NAME = JsonBuffer.ascii(",\"DP\":{");
  private static final byte[] CPU_NAME = JsonBuffer.ascii("},\"CPU\":");
  private static final byte[] DISK_NAME = JsonBuffer.ascii(",\"DISK\":");
  private static final byte[] END_NAME = JsonBuffer.ascii("\":");

  private final Supplier<RegistrationSnapshot> registrations;
  private final IndexAccess index;
  private final PromptWalk walk = new PromptWalk();
  private final MatchCounter counter = new MatchCounter();
  private boolean first;

  public ConductorAnswers(Supplier<RegistrationSnapshot> registrations, IndexAccess index) {
    this.registrations = registrations;
    this.index = index;
  }

  @Override
  public void answer(QueryForm form, QueryBody query, QueryReply reply) {
    List<TableRows> tables = tables(query);
    JsonBuffer out = reply.body();
    out.raw('{').name(query.tenant()).raw('{');
    reply.begin();
    first = true;
    for (TableRows rows : tables) {
      @Nullable String filter = query.instanceId();
      int only = filter == null ? ALL : rows.instances().indexOf(filter);
      if (filter == null || only != ALL) {
        writeTable(form, query, rows, only, reply);
      }
    }
    out.raw('}').raw('}');
  }

  private List<TableRows> tables(QueryBody query) {
    NavigableMap<Integer, List<TableRows>> sizes =
        registrations.get().tables(query.tenant(), query.model());
    if (query.blockSize() != QueryBody.NO_BLOCK_SIZE) {
      return sizes.getOrDefault(query.blockSize(), List.of());
    }
    if (sizes.size() > 1) {
      throw ErrorCode.MISSING.member(
          "block_size",
          "is missing and several are registered for this model: "
              + sizes.keySet().stream().map(Object::toString).collect(Collectors.joining(", ")));
    }
    return sizes.isEmpty() ? List.of() : sizes.firstEntry().getValue();
  }

  private void writeTable(
      QueryForm form, QueryBody query, TableRows rows, int only, QueryReply reply) {
    TableView view =
        index.readable(rows.table()).within(query.deadline(), query.visibleFrom(rows.table()));
    JsonBuffer out = reply.body();
    counter.over(rows.instances());
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
    reply.madeFrom(view, rows.degraded(view.degradedPublishers()));
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
    row(out, counter, instance, rows.table().blockSize());
  }

  /**
   * Writes {@code {longest_matched, GPU, DP, CPU, DISK}} of one instance in tokens. GPU, CPU and
   * DISK are always there, other media when they hold something.
   */
  private static void row(JsonBuffer out, MatchCounter counts, int instance, long blockSize) {
    out.raw(LONGEST).number(counts.longest(instance) * blockSize);
    out.raw(GPU_NAME).number(counts.inMedium(instance, GPU) * blockSize);
    out.raw(DP_NAME);
    for (int i = 0; i < counts.ranks(instance); i++) {
      if (i > 0) {
        out.raw(',');
      }
      out.raw('"').number(counts.rank(instance, i)).raw(END_NAME);
      out.number(counts.inRank(instance, i) * blockSize);
    }
    out.raw(CPU_NAME).number(counts.inMedium(instance, CPU) * blockSize);
    out.raw(DISK_NAME).number(counts.inMedium(instance, DISK) * blockSize);
    for (int medium = DISK + 1; medium < counts.media(); medium++) {
      int blocks = counts.inMedium(instance, medium);
      if (blocks > 0) {
        out.raw(',').name(counts.mediumKey(medium)).number(blocks * blockSize);
      }
    }
    out.raw('}');
  }
}
