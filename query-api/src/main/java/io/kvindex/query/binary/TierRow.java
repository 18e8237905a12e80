// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.binary;

import io.kvindex.model.Media.Tier;
import io.kvindex.query.match.TierCounter;
import io.kvindex.query.reply.MsgpackBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Writes {@code {longest_matched, dp, rank_matches, gpu, cpu, disk}} of one instance in tokens from
 * the prompt's start: of each rank how far its cursor comes in each tier, of the instance the most
 * of its ranks. What lies beyond the disk tier is not counted.
 */
final class TierRow {
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

  private TierRow() {}

  /** Blocks of the longest prefix. */
  static int longest(TierCounter counts, int instance) {
    return counts.furthest(instance, DISK);
  }

  static void write(MsgpackBuffer out, TierCounter counts, int instance, long blockSize) {
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
