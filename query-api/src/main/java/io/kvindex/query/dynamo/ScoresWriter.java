// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.dynamo;

import io.kvindex.model.Media.Tier;
import io.kvindex.query.registration.TableRows;
import io.kvindex.query.reply.JsonBuffer;

/**
 * Writes {@code {scores, frequencies, instances}} in tokens. {@code scores} has device matches
 * only, {@code instances} every instance that holds anything of the prompt's start. {@code
 * frequencies} is always empty, as theirs is. Source: reference 003; Dynamo's {@code
 * build_score_response}.
 */
final class ScoresWriter {
  private static final byte[] SCORES = JsonBuffer.ascii("{\"scores\":{");
  private static final byte[] INSTANCES = JsonBuffer.ascii("},\"frequencies\":[],\"instances\":{");
  private static final byte[] LONGEST = JsonBuffer.ascii("{\"longest_matched\":");
  private static final byte[] GPU = JsonBuffer.ascii(",\"gpu\":");
  private static final byte[] DP = JsonBuffer.ascii(",\"dp\":{");
  private static final byte[] CPU = JsonBuffer.ascii("},\"cpu\":");
  private static final byte[] DISK = JsonBuffer.ascii(",\"disk\":");
  private static final byte[] END_NAME = JsonBuffer.ascii("\":");
  private static final byte[] END = JsonBuffer.ascii("}}");

  private final JsonBuffer instances = new JsonBuffer();
  private boolean anyScore;

  void begin(JsonBuffer out) {
    instances.clear();
    anyScore = false;
    out.raw(SCORES);
  }

  /** Adds the instances of a table. */
  void add(TableRows rows, Reached reached, JsonBuffer out) {
    int blockSize = rows.table().blockSize();
    for (int from = 0; from < reached.size(); ) {
      int to = reached.endOfInstance(from);
      byte[] name = rows.jsonName(reached.instance(from));
      score(name, reached, from, to, blockSize, out);
      if (instances.length() > 0) {
        instances.raw(',');
      }
      instance(instances.raw(name), reached, from, to, blockSize);
      from = to;
    }
  }

  void end(JsonBuffer out) {
    out.raw(INSTANCES).raw(instances).raw(END);
  }

  private void score(
      byte[] name, Reached reached, int from, int to, long blockSize, JsonBuffer out) {
    boolean any = false;
    for (int at = from; at < to; at++) {
      int blocks = reached.through(at, Tier.DEVICE);
      if (blocks > 0) {
        if (any) {
          out.raw(',');
        } else {
          (anyScore ? out.raw(',') : out).raw(name).raw('{');
        }
        any = true;
        rank(out, reached.rank(at)).number(blocks * blockSize);
      }
    }
    if (any) {
      anyScore = true;
      out.raw('}');
    }
  }

  private static void instance(JsonBuffer out, Reached reached, int from, int to, long blockSize) {
    int gpu = 0;
    int cpu = 0;
    int disk = 0;
    for (int at = from; at < to; at++) {
      gpu = Math.max(gpu, reached.through(at, Tier.DEVICE));
      cpu = Math.max(cpu, reached.through(at, Tier.HOST));
      disk = Math.max(disk, reached.through(at, Tier.EXTERNAL));
    }
    // Each tier goes on from the one above, so the last one is the longest.
    out.raw(LONGEST).number(disk * blockSize);
    out.raw(GPU).number(gpu * blockSize).raw(DP);
    for (int at = from; at < to; at++) {
      if (at > from) {
        out.raw(',');
      }
      rank(out, reached.rank(at)).number(reached.through(at, Tier.DEVICE) * blockSize);
    }
    out.raw(CPU).number(cpu * blockSize).raw(DISK).number(disk * blockSize).raw('}');
  }

  private static JsonBuffer rank(JsonBuffer out, int rank) {
    return out.raw('"').number(rank).raw(END_NAME);
  }
}
