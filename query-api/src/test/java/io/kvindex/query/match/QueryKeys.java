// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.match;

import io.kvindex.streams.index.BlockKeys;
import java.util.HashMap;
import java.util.Map;

/** Short forms shared by the tests of this package. */
final class QueryKeys {

  static final long[] PLAIN = {0};

  private QueryKeys() {}

  static BlockKeys of(long... keys) {
    return (out, from, max) -> {
      int count = Math.min(max, keys.length - from);
      System.arraycopy(keys, from, out, 0, count);
      return count;
    };
  }

  /** All numbers of one instance by name; ranks as DP0, DP1... */
  static Map<String, Integer> row(MatchCounter counter, int instance, int blockSize) {
    Map<String, Integer> row = new HashMap<>();
    row.put("longest", counter.longest(instance) * blockSize);
    for (int medium = 0; medium < counter.media(); medium++) {
      row.put(counter.mediumKey(medium), counter.inMedium(instance, medium) * blockSize);
    }
    for (int i = 0; i < counter.ranks(instance); i++) {
      row.put("DP" + counter.rank(instance, i), counter.inRank(instance, i) * blockSize);
    }
    return row;
  }
}
