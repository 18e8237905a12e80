// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import io.kvindex.model.event.MalformedRecordException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * A name as checkpoints have it: what it means and who holds it. Rows are sorted as memory has
 * names in order. To be used again for other names; for one thread at a time.
 *
 * <pre>
 * key:   'N', space (4 bytes), mixed hash (8)
 * value: flags (1), lookup key (8, unless it is the hash), context (8, if not 0), depth (varint),
 *        local hash (8, if not 0), parent (8, if not 0), then
 *        held by one slot, a holder's first: holder id (varint)
 *        held by others: how many (varint); each, lowest first: 2 x (id - id before) + (is it another
 *        than the first slot) (varint), which slot (varint, if it is another)
 *        counts: how many (varint); each: holder id, group, certain copies, undecided ones (varints)
 *        neither: place in the ring (varint)
 * </pre>
 */
public final class NameRow {

  /** First byte of a key. */
  public static final byte KIND = 'N';

  /** Bytes of a key. */
  public static final int KEY_LENGTH = 1 + Integer.BYTES + Long.BYTES;

  /** The place of a name that is held, or may be. */
  static final int NO_PLACE = -1;

  private static final int ONE = 1;
  private static final int SEVERAL = 1 << 1;
  private static final int COUNTED = 1 << 2;
  private static final int BY_DEVICE = 1 << 3;
  private static final int CONTEXT = 1 << 4;
  private static final int LOCAL = 1 << 5;
  private static final int PARENT = 1 << 6;
  private static final int KEY_IS_HASH = 1 << 7;

  static final int GROUP_BITS = 8;
  static final int GROUP = (1 << GROUP_BITS) - 1;
  private static final long MOST_PLACES = 1L << 25;
  private static final int LONGEST_VARINT = 10;

  private static final long[] NONE = {};

  int space;

  /** Its engine hash. */
  long hash;

  boolean exists = true;

  /** See {@link Blocks#key} and the methods that follow it there. */
  long key;

  long context;
  int depth;
  boolean byDevice;
  long local;
  long parent;

  /** Where it is in the order of what nobody holds, 25 bits of it. */
  int place;

  /**
   * Who holds it, the first {@link #holders} of them, lowest first: the id of the {@link Holder},
   * and in the lower 16 bits which of its slots. Once {@link Restoring#resolve} was done, its slots
   * themselves.
   */
  long[] holder = new long[2];

  int holders;

  /** See {@link RareCounts#of}; empty = it has none. */
  long[] counts = NONE;

  /** Whether it is there; of one that is gone, only its key says something. */
  public boolean exists() {
    return exists;
  }

  /** The engine's name for the block. */
  public long hash() {
    return hash;
  }

  /** Key in the index. */
  public long key() {
    return key;
  }

  /** Adapter, namespace, salt and images, folded. */
  public long context() {
    return context;
  }

  /** Hash of the block's own tokens, 0 = never told. */
  public long local() {
    return local;
  }

  /** Engine hash of the block before, 0 = none. */
  public long parent() {
    return parent;
  }

  /** Blocks before it. */
  public int depth() {
    return depth;
  }

  /**
   * What is known of the copies of somebody who holds it.
   *
   * @param group negative = the only one
   */
  long copies(int holderId, int group) {
    for (int i = 0; i < counts.length; i += 2) {
      if (counts[i] >>> GROUP_BITS == holderId && (group < 0 || (counts[i] & GROUP) == group)) {
        return counts[i + 1];
      }
    }
    return 1L << Integer.SIZE;
  }

  /** It has neither holders nor copies. */
  void clearHolders() {
    holders = 0;
    counts = NONE;
  }

  /** One more holder. */
  void addHolder(long number) {
    holder = holders == holder.length ? Arrays.copyOf(holder, 2 * holders) : holder;
    holder[holders++] = number;
  }

  // ------------------------------------------------------------------- as bytes

  /** The key of a space's names begins with this, and those of the spaces before are below it. */
  public static byte[] firstOf(int space) {
    return ByteBuffer.allocate(1 + Integer.BYTES).put(KIND).putInt(space).array();
  }

  /** Puts its key in place of what a buffer has. */
  public void writeKey(ByteBuffer to) {
    to.clear().put(KIND).putInt(space).putLong(NameTable.mix(hash)).flip();
  }

  /**
   * Puts its value in place of what a buffer has.
   *
   * @return the buffer, or another where that was too small
   */
  public ByteBuffer writeValue(ByteBuffer buffer) {
    int most = 1 + 4 * Long.BYTES + LONGEST_VARINT * (4 + 2 * holders + 2 * counts.length);
    ByteBuffer to = buffer.capacity() < most ? ByteBuffer.allocateDirect(2 * most) : buffer;
    boolean one = holders == 1 && Holder.partOf(holder[0]) == 0;
    boolean byHash = key == hash;
    int flags =
        (one ? ONE : 0)
            | (holders > 0 && !one ? SEVERAL : 0)
            | (counts.length > 0 ? COUNTED : 0)
            | (byDevice ? BY_DEVICE : 0)
            | (context != 0 ? CONTEXT : 0)
            | (local != 0 ? LOCAL : 0)
            | (parent != 0 ? PARENT : 0)
            | (byHash ? KEY_IS_HASH : 0);
    to.clear().put((byte) flags);
    if (!byHash) {
      to.putLong(key);
    }
    writeUnlessZero(to, context);
    writeVarint(to, depth);
    writeUnlessZero(to, local);
    writeUnlessZero(to, parent);
    if (one) {
      writeVarint(to, Holder.idOf(holder[0]));
    } else if (holders > 0) {
      writeHolders(to);
    }
    if (counts.length > 0) {
      writeCounts(to);
    } else if (holders == 0) {
      if (place < 0) {
        throw new IllegalStateException("BUG: a name that nobody holds and that is in no ring");
      }
      writeVarint(to, place);
    }
    return to.flip();
  }

  private void writeHolders(ByteBuffer to) {
    writeVarint(to, holders);
    long before = 0;
    for (int i = 0; i < holders; i++) {
      long id = Holder.idOf(holder[i]);
      int part = Holder.partOf(holder[i]);
      writeVarint(to, id - before << 1 | (part == 0 ? 0 : 1));
      if (part != 0) {
        writeVarint(to, part);
      }
      before = id;
    }
  }

  private void writeCounts(ByteBuffer to) {
    writeVarint(to, counts.length / 2);
    for (int i = 0; i < counts.length; i += 2) {
      writeVarint(to, counts[i] >>> GROUP_BITS);
      writeVarint(to, counts[i] & GROUP);
      writeVarint(to, counts[i + 1] >>> Integer.SIZE);
      writeVarint(to, counts[i + 1] & 0xFFFFFFFFL);
    }
  }

  private static void writeUnlessZero(ByteBuffer to, long field) {
    if (field != 0) {
      to.putLong(field);
    }
  }

  private static void writeVarint(ByteBuffer to, long number) {
    long rest = number;
    while ((rest & ~0x7FL) != 0) {
      to.put((byte) (rest | 0x80));
      rest >>>= 7;
    }
    to.put((byte) rest);
  }

  /**
   * Becomes what a row says.
   *
   * @param from the key, at its kind
   * @throws MalformedRecordException if it is none
   */
  public void read(ByteBuffer from, ByteBuffer value) {
    if (from.remaining() != KEY_LENGTH) {
      throw new MalformedRecordException("a name's key of " + from.remaining() + " bytes");
    }
    clearHolders();
    try {
      from.get();
      space = from.getInt();
      hash = NameTable.unmix(from.getLong());
      int flags = value.get();
      key = (flags & KEY_IS_HASH) != 0 ? hash : value.getLong();
      context = (flags & CONTEXT) != 0 ? value.getLong() : 0;
      depth = (int) readVarint(value, Blocks.DEEPEST);
      local = (flags & LOCAL) != 0 ? value.getLong() : 0;
      parent = (flags & PARENT) != 0 ? value.getLong() : 0;
      byDevice = (flags & BY_DEVICE) != 0;
      place = NO_PLACE;
      if ((flags & ONE) != 0) {
        addHolder(readVarint(value, Integer.MAX_VALUE) << Holder.PART_BITS);
      } else if ((flags & SEVERAL) != 0) {
        readHolders(value);
      }
      if ((flags & COUNTED) != 0) {
        readCounts(value);
      } else if ((flags & (ONE | SEVERAL)) == 0) {
        place = (int) readVarint(value, MOST_PLACES - 1);
      }
    } catch (BufferUnderflowException e) {
      throw new MalformedRecordException("a name's row is cut short", e);
    }
    if (value.hasRemaining()) {
      throw new MalformedRecordException("a name's row is too long");
    }
  }

  private void readHolders(ByteBuffer in) {
    long id = 0;
    for (long left = readVarint(in, in.remaining()); left > 0; left--) {
      long next = readVarint(in, 2L * Integer.MAX_VALUE + 1);
      id += next >>> 1;
      long part = (next & 1) == 0 ? 0 : readVarint(in, Holder.MOST_PARTS);
      if (id > Integer.MAX_VALUE) {
        throw new MalformedRecordException("holder " + id);
      }
      addHolder(id << Holder.PART_BITS | part);
    }
  }

  private void readCounts(ByteBuffer in) {
    counts = new long[2 * (int) readVarint(in, in.remaining())];
    for (int i = 0; i < counts.length; i += 2) {
      long holderId = readVarint(in, Integer.MAX_VALUE);
      long group = readVarint(in, GROUP);
      long certain = readVarint(in, Integer.MAX_VALUE);
      long undecided = readVarint(in, Integer.MAX_VALUE);
      counts[i] = holderId << GROUP_BITS | group;
      counts[i + 1] = certain << Integer.SIZE | undecided;
    }
  }

  private static long readVarint(ByteBuffer in, long most) {
    long number = 0;
    for (int shift = 0; shift < Long.SIZE; shift += 7) {
      byte next = in.get();
      number |= (long) (next & 0x7F) << shift;
      if (next >= 0) {
        if (number < 0 || number > most) {
          break;
        }
        return number;
      }
    }
    throw new MalformedRecordException("a number out of its range in a name's row");
  }
}
