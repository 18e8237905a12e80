// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.Incarnation;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.lookup.TableView;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.OwnerView;
import io.kvindex.streams.index.RunVisitor;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What another replica's walk came upon:
 *
 * <pre>
 * byte     version
 * trust    {@link Told}
 * 8 bytes  number of the owner list; byte: 1 = the list follows, 0 = the asker has it
 * list     varint slots; of each: byte 0, or byte 1 and the owner
 * runs     varint position + 1, then the owner bits, 8 bytes for 64 slots; ...
 * end      varint 0, varint blocks walked
 * </pre>
 *
 * @param owners what the bits mean
 * @param runs how many of the next two count: where each run begins, and who holds it
 * @param end blocks walked
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record WalkAnswer(Told told, OwnerView owners, int runs, int[] positions, long[] bits, int end) {
  private static final byte VERSION = 1;

  /**
   * Reads an answer.
   *
   * @param known the owner list the asker said it has, null = none
   * @throws MalformedRecordException if it is no such answer, or of a version not known here
   */
  static WalkAnswer decode(byte[] bytes, @Nullable OwnerView known) {
    RecordReader in = new RecordReader(bytes);
    int version = in.readByte();
    if (version != VERSION) {
      throw new MalformedRecordException("version " + version + " of answers is not known here");
    }
    Told told = Told.read(in);
    long id = in.readLong();
    if (in.readByte() != 0) {
      return read(told, readOwners(id, in), in);
    } else if (known == null || known.id() != id) {
      throw new MalformedRecordException("the answer speaks of an owner list that is not here");
    }
    return read(told, known, in);
  }

  private static WalkAnswer read(Told told, OwnerView owners, RecordReader in) {
    int words = owners.words();
    int count = 0;
    int[] at = new int[8];
    long[] held = {};
    for (int next = in.readInt(); next > 0; next = in.readInt()) {
      if (count == at.length || (count + 1) * words > held.length) {
        at = Arrays.copyOf(at, 2 * at.length);
        held = Arrays.copyOf(held, at.length * words);
      }
      at[count] = next - 1;
      if (count > 0 && at[count] <= at[count - 1]) {
        throw new MalformedRecordException("a run at " + at[count] + " behind a later one");
      }
      for (int i = 0; i < words; i++) {
        held[count * words + i] = owned(in.readLong(), i, owners);
      }
      count++;
    }
    int end = in.readInt();
    if (end < (count == 0 ? 0 : at[count - 1])) {
      throw new MalformedRecordException("an end at " + end + " before the last run");
    }
    in.requireEnd();
    return new WalkAnswer(told, owners, count, at, held, end);
  }

  /** A word of owner bits, each of which has to stand for an owner. */
  private static long owned(long bits, int word, OwnerView owners) {
    for (long left = bits; left != 0; left &= left - 1) {
      int slot = word * Long.SIZE + Long.numberOfTrailingZeros(left);
      if (owners.owner(slot) == null) {
        throw new MalformedRecordException("a run of slot " + slot + ", which nobody has");
      }
    }
    return bits;
  }

  private static OwnerView readOwners(long id, RecordReader in) {
    @Nullable Owner[] bySlot = new Owner[in.readCount()];
    for (int slot = 0; slot < bySlot.length; slot++) {
      if (in.readByte() != 0) {
        bySlot[slot] = readOwner(in);
      }
    }
    return OwnerView.of(id, bySlot);
  }

  private static Owner readOwner(RecordReader in) {
    return new Owner(
        in.readRequiredString(),
        in.readRequiredString(),
        in.readInt(),
        in.readInt(),
        in.readString(),
        in.readByte() != 0,
        in.readString(),
        new Incarnation(in.readZigZag(), in.readZigZag(), in.readZigZag()));
  }

  /**
   * Has the visitor go through it as if the walk took place here.
   *
   * @return number of blocks walked
   */
  int replay(RunVisitor visitor) {
    visitor.begin(owners);
    long[] words = new long[owners.words()];
    int walked = end;
    for (int run = 0; run < runs; run++) {
      System.arraycopy(bits, run * words.length, words, 0, words.length);
      if (!visitor.change(positions[run], words)) {
        walked = positions[run];
        break;
      }
    }
    visitor.end(walked);
    return walked;
  }

  /** Writes down a walk for the replica that asked for it. For one walk. */
  static final class AnswerWriter implements RunVisitor {
    /**
     * Longest answer, bytes: it is in memory here and there, for each of the queries in flight.
     * 16,384 blocks of which each has other owners than the one before, of 4,096 owners, need half
     * of it.
     */
    static final int MAX_BYTES = 16 << 20;

    private static final int POOL = 1;

    private final RecordWriter out = new RecordWriter(1 << 10);
    private final long known;
    private int words;

    /**
     * @param known number of the owner list the asker has
     */
    AnswerWriter(TableView view, long known) {
      this.known = known;
      out.writeByte(VERSION);
      Told.of(view).write(out);
    }

    @Override
    public void begin(OwnerView owners) {
      words = owners.words();
      out.writeLong(owners.id());
      if (owners.id() == known) {
        out.writeByte(0);
        return;
      }
      out.writeByte(1);
      out.writeVarint(owners.slots());
      for (int slot = 0; slot < owners.slots(); slot++) {
        Owner owner = owners.owner(slot);
        out.writeByte(owner == null ? 0 : 1);
        if (owner != null) {
          write(owner);
        }
        requireBounded();
      }
    }

    private void write(Owner owner) {
      out.writeString(owner.tenantId());
      out.writeString(owner.instanceId());
      out.writeVarint(owner.publisherRank());
      out.writeVarint(owner.rank());
      out.writeString(owner.medium());
      out.writeByte(owner.pool() ? POOL : 0);
      out.writeString(owner.backendId());
      EventRecordCodec.writeIncarnation(out, owner.incarnation());
    }

    @Override
    public boolean change(int position, long[] ownerBits) {
      out.writeVarint(position + 1L);
      for (int i = 0; i < words; i++) {
        out.writeLong(ownerBits[i]);
      }
      requireBounded();
      return true;
    }

    private void requireBounded() {
      if (out.size() > MAX_BYTES) {
        throw ErrorCode.TOO_MANY_ITEMS.because(
            "what holds this prompt takes more than "
                + MAX_BYTES
                + " bytes to say; ask a replica that has the table, or for a shorter prompt");
      }
    }

    @Override
    public void end(int position) {
      out.writeVarint(0);
      out.writeVarint(position);
    }

    /** The answer, once the walk is over. */
    byte[] toByteArray() {
      return out.toByteArray();
    }
  }
}
