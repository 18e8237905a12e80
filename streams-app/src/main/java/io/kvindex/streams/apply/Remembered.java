// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.streams.row.ContentRow;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The meanings used last, in a bounded direct-mapped table of plain longs: one cache line each and
 * no object to chase. A meaning of the record under way, which is in no store yet, is never lost:
 * if its place is wanted it moves aside until the record is written. For one thread.
 */
final class Remembered {

  /** A power of two of places; a newer meaning takes the place of an older one. */
  private static final int PLACES = 1 << 16;

  private static final int WIDTH = 8;
  private static final int HASH = 0;
  private static final int SPACE = 1; // + 1, so that 0 is an empty place
  private static final int RECORD = 2;
  private static final int CONTEXT = 3;
  private static final int SEQ_HASH = 4;
  private static final int LOCAL = 5;
  private static final int PARENT = 6;
  private static final int DEPTH = 7;

  private record Name(int space, long hash) {}

  private final long[] table = new long[PLACES * WIDTH];
  private final Map<Name, ContentRow> aside = new HashMap<>();
  private long record = 1;

  /** Meaning of a hash, null = not remembered. */
  @Nullable ContentRow get(int space, long hash) {
    int at = at(space, hash);
    if (isAt(at, space, hash)) {
      return read(at);
    }
    return aside.isEmpty() ? null : aside.get(new Name(space, hash));
  }

  /** A meaning the store has. */
  void read(int space, long hash, ContentRow row) {
    int at = at(space, hash);
    if (table[at + RECORD] != record) {
      write(at, space, hash, row, 0);
    }
  }

  /** A meaning the record under way teaches. */
  void taught(int space, long hash, ContentRow row) {
    int at = at(space, hash);
    if (table[at + RECORD] == record && !isAt(at, space, hash)) {
      aside.put(new Name((int) table[at + SPACE] - 1, table[at + HASH]), read(at));
    }
    if (!aside.isEmpty()) {
      aside.remove(new Name(space, hash));
    }
    write(at, space, hash, row, record);
  }

  /** The row is about to be deleted. */
  void forget(int space, long hash) {
    int at = at(space, hash);
    if (isAt(at, space, hash)) {
      table[at + SPACE] = 0;
      table[at + RECORD] = 0;
    }
    if (!aside.isEmpty()) {
      aside.remove(new Name(space, hash));
    }
  }

  /** The record under way is written. */
  void committed() {
    record++;
    if (!aside.isEmpty()) {
      aside.clear();
    }
  }

  private boolean isAt(int at, int space, long hash) {
    return table[at + HASH] == hash && table[at + SPACE] == space + 1L;
  }

  private ContentRow read(int at) {
    return new ContentRow(
        table[at + CONTEXT],
        table[at + SEQ_HASH],
        table[at + LOCAL],
        table[at + PARENT],
        (int) (table[at + DEPTH] >>> 1),
        (table[at + DEPTH] & 1) != 0);
  }

  private void write(int at, int space, long hash, ContentRow row, long writtenIn) {
    table[at + HASH] = hash;
    table[at + SPACE] = space + 1L;
    table[at + RECORD] = writtenIn;
    table[at + CONTEXT] = row.context();
    table[at + SEQ_HASH] = row.seqHash();
    table[at + LOCAL] = row.local();
    table[at + PARENT] = row.parent();
    table[at + DEPTH] = (long) row.depth() << 1 | (row.byDevice() ? 1 : 0);
  }

  private static int at(int space, long hash) {
    return (int) ((hash ^ (long) space << 32) * 0x9E3779B97F4A7C15L >>> 48) * WIDTH;
  }
}
