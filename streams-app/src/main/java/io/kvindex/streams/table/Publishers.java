// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.PublisherId;
import io.kvindex.streams.row.PublisherRow;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The publishers of a partition: rows {@code P}. */
public final class Publishers {

  /** By reference: asked for with every block. */
  private @Nullable PublisherRow[] byRef = new PublisherRow[16];

  private final Map<PublisherId, Integer> refs = new HashMap<>();

  Publishers() {}

  void fold(int ref, PublisherRow row) {
    if (ref >= byRef.length) {
      byRef = Arrays.copyOf(byRef, Math.max(ref + 1, 2 * byRef.length));
    }
    byRef[ref] = row;
    refs.put(row.publisher(), ref);
  }

  /** Reference of a publisher, null = not known yet. */
  public @Nullable Integer ref(PublisherId publisher) {
    return refs.get(publisher);
  }

  /** Whether the row of that reference has come. */
  boolean knows(int ref) {
    return ref < byRef.length && byRef[ref] != null;
  }

  /** The publisher of a reference found in a row. */
  public PublisherRow get(int ref) {
    PublisherRow row = ref < byRef.length ? byRef[ref] : null;
    if (row == null) {
      throw new IllegalStateException("BUG: row names an unknown publisher " + ref);
    }
    return row;
  }

  /** A reference no publisher has. */
  public int next() {
    return refs.size() + 1;
  }
}
