// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.event.RecordReader;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * What the numbers mean by which stored names call their holders, see {@link NameChanges#holder}.
 * Does not change.
 */
public final class StoredHolders {

  /** The number says nothing: its slot is of a dead holder, or was given up. */
  public static final int NOTHING = -1;

  /** All groups of its publisher hold the block. */
  public static final int WHOLE = -2;

  /** The holder's publisher has used one group so far. */
  public static final int ONLY = -3;

  /** By holder that is not just alive with one slot: what its parts are, by part. */
  private final Map<Integer, int[]> parts = new HashMap<>();

  /**
   * @param state {@link Journal#state}
   * @throws MalformedRecordException if it is none
   */
  public StoredHolders(byte[] state) {
    RecordReader in = new RecordReader(state);
    in.readVarint();
    in.readVarint();
    for (int tables = in.readCount(); tables > 0; tables--) {
      in.readInt();
      for (int left = in.readCount(); left > 0; left--) {
        holder(in);
      }
      for (int slots = in.readCount(); slots > 0; slots--) {
        in.readVarint();
      }
      for (int slots = in.readCount(); slots > 0; slots--) {
        in.readVarint();
      }
      in.readInt();
      in.readInt();
    }
    in.requireEnd();
  }

  private void holder(RecordReader in) {
    int id = in.readInt();
    boolean dead = in.readByte() != 0;
    int[] meaning = new int[in.readInt()];
    Arrays.fill(meaning, NOTHING);
    int visible = in.readInt();
    int groups = in.readCount();
    if (!dead) {
      set(meaning, visible, groups == 0 ? ONLY : WHOLE);
    }
    for (int group = 0; group < groups; group++) {
      int part = in.readInt() - 1;
      if (part >= 0 && !dead) {
        set(meaning, part, group);
      }
    }
    parts.put(id, meaning);
  }

  private static void set(int[] meaning, int part, int means) {
    if (part < 0 || part >= meaning.length) {
      throw new MalformedRecordException("a holder's part " + part + " of " + meaning.length);
    }
    meaning[part] = means;
  }

  /** The group a number is of, or {@link #NOTHING}, {@link #WHOLE}, {@link #ONLY}. */
  public int groupOf(long number) {
    int[] known = parts.get(Holder.idOf(number));
    int part = Holder.partOf(number);
    if (known == null) {
      return part == 0 ? ONLY : NOTHING;
    }
    return part < known.length ? known[part] : NOTHING;
  }

  /** The id of the holder a number is of. */
  public static int idOf(long number) {
    return Holder.idOf(number);
  }
}
