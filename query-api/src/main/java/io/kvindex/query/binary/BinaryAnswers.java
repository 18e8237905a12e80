// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.binary;

import io.kvindex.model.Media.Tier;
import io.kvindex.query.http.QueryAnswers;
import io.kvindex.query.http.QueryReply;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.match.TierCounter;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryForm;
import io.kvindex.query.prompt.Contexts;
import io.kvindex.query.prompt.Contexts.Names;
import io.kvindex.query.prompt.PromptWalk;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.query.registration.TableRows;
import io.kvindex.query.reply.MsgpackBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Supplier;

/**
 * {@code {"instances": {id: row}}}: the instances registered for the context, in order of their
 * names, with zeros where nothing matches; an empty map for an unknown tenant, model, block size,
 * adapter or instance. For one thread. Source: Mooncake Conductor, C++ server at 19ffa6e4a.
 */
public final class BinaryAnswers implements QueryAnswers {
  private static final byte[] INSTANCES = encoded("\u0081\u00a9instances");

  private static final int GPU = Tier.DEVICE.ordinal();
  private static final int CPU = Tier.HOST.ordinal();
  private static final int DISK = Tier.DISK.ordinal();

  private static final byte[] LONGEST = encoded("\u0086\u00aflongest_matched");
  private static final byte[] DP_NAME = encoded("\u00a2dp");
  private static final byte[] RANKS_NAME = encoded("\u00acrank_matches");
  private static final byte[] THREE_TIERS = encoded("\u0083\u00a3gpu");
  private static final byte[] GPU_NAME = encoded("\u00a3gpu");
  private static final byte[] CPU_NAME = encoded("\u00a3cpu");
  private static final byte[] DISK_NAME = encoded("\u00a4disk");

  private final Supplier<RegistrationSnapshot> registrations;
  private final IndexAccess index;
  private final PromptWalk walk = new PromptWalk();
  private final TierCounter counter = new TierCounter();

  public BinaryAnswers(Supplier<RegistrationSnapshot> registrations, IndexAccess index) {
    this.registrations = registrations;
    this.index = index;
  }

  @Override
  public void answer(QueryForm form, QueryBody query, QueryReply reply) {
    List<TableRows> tables =
        registrations
            .get()
            .tables(query.tenant(), query.model())
            .getOrDefault(query.blockSize(), List.of());
    reply.begin();
    MsgpackBuffer out = reply.packed();
    int begun = out.raw(INSTANCES).beginMap();
    int rows = 0;
    for (TableRows table : tables) {
      rows += write(form, query, table, reply);
    }
    out.endMap(begun, rows);
  }

  /** Number of rows written. */
  private int write(QueryForm form, QueryBody query, TableRows rows, QueryReply reply) {
    String filter = query.instanceId();
    int only = filter == null ? -1 : rows.instances().indexOf(filter);
    if (filter != null && only < 0) {
      return 0;
    }
    TableView view =
        index.readable(rows.table()).within(query.deadline(), query.visibleFrom(rows.table()));
    List<Names> contexts = Contexts.ofRequest(query.loraName(), query.cacheSalt());
    walk.walk(view, form, query, contexts, rows, counter.over(rows.instances()));
    reply.madeFrom(view, rows.degraded(view.degradedPublishers()));
    MsgpackBuffer out = reply.packed();
    int from = filter == null ? 0 : only;
    int to = filter == null ? rows.instances().size() : only + 1;
    int written = 0;
    for (int i = from; i < to; i++) {
      // An adapter loaded at run time is registered by nobody and holds blocks all the same.
      if (rows.hasAdapter(i, query.loraName()) || longest(counter, i) > 0) {
        out.string(rows.instances().get(i).instanceId());
        row(out, counter, i, rows.table().blockSize());
        written++;
      }
    }
    return written;
  }

  /** Blocks of the longest prefix. */
  private static int longest(TierCounter counts, int instance) {
    return counts.furthest(instance, DISK);
  }

  /**
   * Writes {@code {longest_matched, dp, rank_matches, gpu, cpu, disk}} of one instance in tokens
   * from the prompt's start: of each rank how far its cursor comes in each tier, of the instance
   * the most of its ranks. What lies beyond the disk tier is not counted.
   */
  private static void row(MsgpackBuffer out, TierCounter counts, int instance, long blockSize) {
    int from = counts.firstLane(instance);
    int to = counts.endLane(instance);
    long longest = longest(counts, instance) * blockSize;
    out.raw(LONGEST).number(longest);
    out.raw(DP_NAME).map(to - from);
    for (int lane = from; lane < to; lane++) {
      out.digits(counts.rank(lane)).number(counts.reached(lane, GPU) * blockSize);
    }
    out.raw(RANKS_NAME).map(to - from);
    for (int lane = from; lane < to; lane++) {
      out.digits(counts.rank(lane));
      out.raw(THREE_TIERS).number(counts.reached(lane, GPU) * blockSize);
      out.raw(CPU_NAME).number(counts.reached(lane, CPU) * blockSize);
      out.raw(DISK_NAME).number(counts.reached(lane, DISK) * blockSize);
    }
    out.raw(GPU_NAME).number(counts.furthest(instance, GPU) * blockSize);
    out.raw(CPU_NAME).number(counts.furthest(instance, CPU) * blockSize);
    out.raw(DISK_NAME).number(longest);
  }

  /** Lead bytes and texts as one Latin-1 string. */
  private static byte[] encoded(String bytes) {
    return bytes.getBytes(StandardCharsets.ISO_8859_1);
  }
}
