// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.TableId;
import io.kvindex.streams.index.OwnerView;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * The owner list each replica sent last of each table, so that it need not send it again. Keeping
 * the object matters as well: what owners mean to an answer is worked out once for each.
 * Thread-safe.
 */
final class OwnerLists {
  private static final int MOST = 1_024;

  private record Key(String address, TableId table) {}

  private final ConcurrentMap<Key, OwnerView> lists = new ConcurrentHashMap<>();

  @Nullable OwnerView of(String address, TableId table) {
    return lists.get(new Key(address, table));
  }

  void put(String address, TableId table, OwnerView list) {
    if (lists.size() >= MOST) { // replicas come and go, and so do tables
      lists.clear();
    }
    lists.put(new Key(address, table), list);
  }
}
