// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.dynamo;

import io.kvindex.model.Media.Tier;
import io.kvindex.query.dialect.WorkerId;
import io.kvindex.query.registration.TableRows;
import io.kvindex.query.reply.JsonBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * Writes {@code {"block_size", "tiered": {"device": {"scores", "frequencies"}, "lower_tier"}}} in
 * blocks: per tier the blocks by which each worker goes on where the tier above left off. Source:
 * {@code TieredQueryResponse} of Dynamo's remote indexer client, September 2026.
 */
final class TiersWriter {
  private static final byte[] BLOCK_SIZE = JsonBuffer.ascii("{\"block_size\":");
  private static final byte[] DEVICE = JsonBuffer.ascii(",\"tiered\":{\"device\":{\"scores\":[");
  private static final byte[] LOWER = JsonBuffer.ascii("],\"frequencies\":[]},\"lower_tier\":[");
  private static final byte[] HITS = JsonBuffer.ascii(",{\"hits\":[");
  private static final byte[] END_HITS = JsonBuffer.ascii("]}]");
  private static final byte[] WORKER = JsonBuffer.ascii("[{\"worker_id\":");
  private static final byte[] RANK = JsonBuffer.ascii(",\"dp_rank\":");
  private static final byte[] END = JsonBuffer.ascii("]}}");

  /** Their names of the tiers below the device, by place. */
  private static final List<String> NAMES = List.of("device", "host_pinned", "disk", "external");

  private final JsonBuffer[] hits = new JsonBuffer[Tier.values().length];

  TiersWriter() {
    Arrays.setAll(hits, tier -> new JsonBuffer());
  }

  void begin() {
    for (JsonBuffer tier : hits) {
      tier.clear();
    }
  }

  /** Adds the workers of a table. */
  void add(TableRows rows, Reached reached) {
    for (int at = 0; at < reached.size(); at++) {
      long worker = WorkerId.of(rows.instances().get(reached.instance(at)).instanceId());
      int above = 0;
      for (Tier tier : Tier.values()) {
        int through = reached.through(at, tier);
        if (through > above) {
          hit(hits[tier.ordinal()], worker, reached.rank(at), through - above);
        }
        above = through;
      }
    }
  }

  void end(int blockSize, JsonBuffer out) {
    out.raw(BLOCK_SIZE).number(blockSize).raw(DEVICE).raw(hits[Tier.DEVICE.ordinal()]).raw(LOWER);
    boolean any = false;
    for (int tier = Tier.HOST.ordinal(); tier < hits.length; tier++) {
      JsonBuffer found = hits[tier];
      if (found.length() > 0) {
        (any ? out.raw(',') : out).raw('[').string(NAMES.get(tier));
        out.raw(HITS).raw(found).raw(END_HITS);
        any = true;
      }
    }
    out.raw(END);
  }

  private static void hit(JsonBuffer out, long worker, int rank, int blocks) {
    (out.length() > 0 ? out.raw(',') : out).raw(WORKER).unsigned(worker);
    out.raw(RANK).number(rank).raw('}').raw(',').number(blocks).raw(']');
  }
}
