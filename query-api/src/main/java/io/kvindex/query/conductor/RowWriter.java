// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.conductor;

import io.kvindex.query.match.MatchCounter;
import io.kvindex.query.reply.JsonBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Writes {@code {longest_matched, GPU, DP, CPU, DISK}} of one instance in tokens. GPU, CPU and DISK
 * are always there, other media when they hold something.
 */
final class RowWriter {
  /** Places of the standing media in {@link MatchCounter}. */
  private static final int GPU = 0;

  private static final int CPU = 1;
  private static final int DISK = 2;

  private static final byte[] LONGEST = ascii("{\"longest_matched\":");
  private static final byte[] GPU_NAME = ascii(",\"GPU\":");
  private static final byte[] DP_NAME = ascii(",\"DP\":{");
  private static final byte[] CPU_NAME = ascii("},\"CPU\":");
  private static final byte[] DISK_NAME = ascii(",\"DISK\":");
  private static final byte[] END_NAME = ascii("\":");

  private RowWriter() {}

  static void write(JsonBuffer out, MatchCounter counts, int instance, long blockSize) {
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

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
