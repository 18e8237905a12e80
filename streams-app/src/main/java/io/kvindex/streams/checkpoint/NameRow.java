// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.streams.index.Blocks;
import io.kvindex.streams.index.NameChanges;
import io.kvindex.streams.index.NameSink;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import org.rocksdb.RocksDBException;
import org.rocksdb.SstFileWriter;

/**
 * The row of a name: what it means and who holds it. Sorted as memory has names in order. For one
 * thread.
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
final class NameRow {

  static final byte KIND = 'N';
  static final int KEY_LENGTH = 1 + Integer.BYTES + Long.BYTES;

  private static final int ONE = 1;
  private static final int SEVERAL = 1 << 1;
  private static final int COUNTED = 1 << 2;
  private static final int BY_DEVICE = 1 << 3;
  private static final int CONTEXT = 1 << 4;
  private static final int LOCAL = 1 << 5;
  private static final int PARENT = 1 << 6;
  private static final int KEY_IS_HASH = 1 << 7;

  private static final int PART_BITS = 16;
  private static final int PART = (1 << PART_BITS) - 1;
  private static final int GROUP_BITS = 8;
  private static final int GROUP = (1 << GROUP_BITS) - 1;
  private static final long MOST_PLACES = 1L << 25;
  private static final int LONGEST_VARINT = 10;

  private final ByteBuffer key = ByteBuffer.allocateDirect(KEY_LENGTH);
  private final byte[] gone = new byte[KEY_LENGTH];
  private ByteBuffer value = ByteBuffer.allocateDirect(4096);

  /** The key of a space's names begins with this, and those of the spaces before are below it. */
  static byte[] firstOf(int space) {
    return ByteBuffer.allocate(1 + Integer.BYTES).put(KIND).putInt(space).array();
  }

  /** Adds the name a cursor is at, or deletes it. */
  void write(NameChanges name, SstFileWriter to) throws RocksDBException {
    key.clear().put(KIND).putInt(name.space()).putLong(name.mixed()).flip();
    if (!name.exists()) {
      key.get(gone);
      to.delete(gone);
      return;
    }
    int holders = name.holders();
    int counts = name.counts();
    boolean one = holders == 1 && (name.holder(0) & PART) == 0;
    boolean byHash = name.key() == name.hash();
    int flags =
        (one ? ONE : 0)
            | (holders > 0 && !one ? SEVERAL : 0)
            | (counts > 0 ? COUNTED : 0)
            | (name.byDevice() ? BY_DEVICE : 0)
            | (name.context() != 0 ? CONTEXT : 0)
            | (name.local() != 0 ? LOCAL : 0)
            | (name.parent() != 0 ? PARENT : 0)
            | (byHash ? KEY_IS_HASH : 0);
    value.clear().put((byte) flags);
    if (!byHash) {
      value.putLong(name.key());
    }
    writeUnlessZero(name.context());
    writeVarint(name.depth());
    writeUnlessZero(name.local());
    writeUnlessZero(name.parent());
    if (one) {
      writeVarint(name.holder(0) >>> PART_BITS);
    } else if (holders > 0) {
      writeHolders(name, holders);
    }
    if (counts > 0) {
      writeCounts(name, counts);
    } else if (holders == 0) {
      if (name.place() < 0) {
        throw new IllegalStateException("BUG: a name that nobody holds and that is in no ring");
      }
      writeVarint(name.place());
    }
    to.put(key, value.flip());
  }

  private void writeHolders(NameChanges name, int count) {
    writeVarint(count);
    long before = 0;
    for (int i = 0; i < count; i++) {
      ensure(2 * LONGEST_VARINT);
      long id = name.holder(i) >>> PART_BITS;
      long part = name.holder(i) & PART;
      writeVarint(id - before << 1 | (part == 0 ? 0 : 1));
      if (part != 0) {
        writeVarint(part);
      }
      before = id;
    }
  }

  private void writeCounts(NameChanges name, int count) {
    writeVarint(count);
    for (int i = 0; i < count; i++) {
      ensure(4 * LONGEST_VARINT);
      writeVarint(name.countOf(i) >>> GROUP_BITS);
      writeVarint(name.countOf(i) & GROUP);
      writeVarint(name.copies(i) >>> Integer.SIZE);
      writeVarint((int) name.copies(i) & 0xFFFFFFFFL);
    }
  }

  private void writeUnlessZero(long field) {
    if (field != 0) {
      value.putLong(field);
    }
  }

  private void writeVarint(long number) {
    long rest = number;
    while ((rest & ~0x7FL) != 0) {
      value.put((byte) (rest | 0x80));
      rest >>>= 7;
    }
    value.put((byte) rest);
  }

  /** Room for so many bytes more, and for the few numbers of which there is one each. */
  private void ensure(int more) {
    if (value.remaining() < more + 2 * LONGEST_VARINT) {
      value = ByteBuffer.allocateDirect(2 * value.capacity()).put(value.flip());
    }
  }

  /**
   * Reads a row into a batch that has room.
   *
   * @param key at its kind
   * @throws MalformedRecordException if it is none
   */
  static void read(ByteBuffer key, ByteBuffer value, NameSink into) {
    if (key.remaining() != KEY_LENGTH) {
      throw new MalformedRecordException("a name's key of " + key.remaining() + " bytes");
    }
    try {
      key.get();
      int space = key.getInt();
      long mixed = key.getLong();
      int flags = value.get();
      long lookup = (flags & KEY_IS_HASH) != 0 ? NameChanges.hashOf(mixed) : value.getLong();
      long context = (flags & CONTEXT) != 0 ? value.getLong() : 0;
      long depth = readVarint(value, Blocks.DEEPEST);
      long local = (flags & LOCAL) != 0 ? value.getLong() : 0;
      long parent = (flags & PARENT) != 0 ? value.getLong() : 0;
      boolean byDevice = (flags & BY_DEVICE) != 0;
      into.add(space, mixed, lookup, context, (int) depth, byDevice, local, parent);
      if ((flags & ONE) != 0) {
        into.holder(readVarint(value, Integer.MAX_VALUE) << PART_BITS);
      } else if ((flags & SEVERAL) != 0) {
        readHolders(value, into);
      }
      if ((flags & COUNTED) != 0) {
        readCounts(value, into);
      } else if ((flags & (ONE | SEVERAL)) == 0) {
        into.place((int) readVarint(value, MOST_PLACES - 1));
      }
    } catch (BufferUnderflowException e) {
      throw new MalformedRecordException("a name's row is cut short", e);
    }
    if (value.hasRemaining()) {
      throw new MalformedRecordException("a name's row is too long");
    }
  }

  private static void readHolders(ByteBuffer in, NameSink into) {
    long id = 0;
    for (long left = readVarint(in, in.remaining()); left > 0; left--) {
      long next = readVarint(in, 2L * Integer.MAX_VALUE + 1);
      id += next >>> 1;
      long part = (next & 1) == 0 ? 0 : readVarint(in, PART);
      if (id > Integer.MAX_VALUE) {
        throw new MalformedRecordException("holder " + id);
      }
      into.holder(id << PART_BITS | part);
    }
  }

  private static void readCounts(ByteBuffer in, NameSink into) {
    for (long left = readVarint(in, in.remaining()); left > 0; left--) {
      long holder = readVarint(in, Integer.MAX_VALUE);
      long group = readVarint(in, GROUP);
      long certain = readVarint(in, Integer.MAX_VALUE);
      long undecided = readVarint(in, Integer.MAX_VALUE);
      into.copies(holder << GROUP_BITS | group, certain << Integer.SIZE | undecided);
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
