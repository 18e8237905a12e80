// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import io.kvindex.streams.index.BlockKeys;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A walk on its way to another replica, all integers big-endian:
 *
 * <pre>
 * byte     version
 * 8 bytes  number of the owner list the asker has ({@link io.kvindex.streams.index.OwnerView#id}), 0 = none
 * table    as in event records
 * zigzag   offset of the events topic that must be visible, -1 = none
 * varint   contexts; of each: 8 bytes to xor into the hashes, varint number of its chain
 * varint   chains; of each: varint blocks, 8 bytes each
 * </pre>
 *
 * @param contexts what to xor into the hashes, one for each context
 * @param chainOf number of each context's chain
 * @param ownersId number of the owner list the asker has, {@link #NO_OWNERS} = none
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record WalkRequest(
    TableId table,
    long notBefore,
    long[] contexts,
    int[] chainOf,
    List<Hashes> chains,
    long ownersId)
    implements BlockKeys {
  private static final byte VERSION = 1;

  static final long NO_OWNERS = 0;

  /** Names of one adapter, with and without a namespace, are four at most; each takes memory. */
  static final int MAX_CONTEXTS = 64;

  /** Hashes are taken from the keys so many at a time. */
  private static final int CHUNK = 256;

  /** Takes all of a prompt's keys; they can not be asked again. */
  static WalkRequest of(TableId table, long notBefore, BlockKeys keys, long[] contexts) {
    int[] chainOf = new int[contexts.length];
    List<Hashes> chains = new ArrayList<>();
    BlockKeys before = null;
    for (int c = 0; c < contexts.length; c++) {
      BlockKeys own = keys.in(c);
      if (own != before) {
        chains.add(Hashes.of(all(own)));
        before = own;
      }
      chainOf[c] = chains.size() - 1;
    }
    return new WalkRequest(table, notBefore, contexts, chainOf, chains, NO_OWNERS);
  }

  private static long[] all(BlockKeys keys) {
    long[] hashes = new long[CHUNK];
    long[] chunk = new long[CHUNK];
    int count = 0;
    int filled;
    do {
      filled = keys.fill(chunk, count, CHUNK);
      if (count + filled > hashes.length) {
        hashes = Arrays.copyOf(hashes, 2 * hashes.length);
      }
      System.arraycopy(chunk, 0, hashes, count, filled);
      count += filled;
    } while (filled == CHUNK);
    return Arrays.copyOf(hashes, count);
  }

  /**
   * The bytes to send.
   *
   * @param known number of the owner list the asker has of whom it is sent to
   */
  byte[] encode(long known) {
    RecordWriter out = new RecordWriter(256 + chains.get(0).size() * Long.BYTES * chains.size());
    out.writeByte(VERSION);
    out.writeLong(known);
    EventRecordCodec.writeTable(out, table);
    out.writeZigZag(notBefore);
    out.writeVarint(contexts.length);
    for (int c = 0; c < contexts.length; c++) {
      out.writeLong(contexts[c]);
      out.writeVarint(chainOf[c]);
    }
    out.writeVarint(chains.size());
    chains.forEach(out::writeHashes);
    return out.toByteArray();
  }

  /**
   * Reads {@link #encode} back.
   *
   * @throws MalformedRecordException if it is no such request, or of a version not known here
   */
  static WalkRequest decode(byte[] bytes) {
    RecordReader in = new RecordReader(bytes);
    int version = in.readByte();
    if (version != VERSION) {
      throw new MalformedRecordException("version " + version + " of questions is not known here");
    }
    long ownersId = in.readLong();
    TableId table = EventRecordCodec.readTable(in);
    long notBefore = in.readZigZag();
    int count = in.readCount();
    if (count > MAX_CONTEXTS) {
      throw new MalformedRecordException(
          count + " contexts, at most " + MAX_CONTEXTS + " are looked up together");
    }
    long[] contexts = new long[count];
    int[] chainOf = new int[contexts.length];
    for (int c = 0; c < contexts.length; c++) {
      contexts[c] = in.readLong();
      chainOf[c] = in.readInt();
    }
    List<Hashes> chains = new ArrayList<>();
    for (int left = in.readCount(); left > 0 && chains.size() <= count; left--) {
      chains.add(in.readHashes());
    }
    in.requireEnd();
    boolean fits = contexts.length > 0;
    for (int chain : chainOf) {
      fits &= chain < chains.size() && chains.get(chain).size() == chains.get(0).size();
    }
    if (!fits) {
      throw new MalformedRecordException("contexts and chains do not fit each other");
    }
    return new WalkRequest(table, notBefore, contexts, chainOf, chains, ownersId);
  }

  @Override
  public BlockKeys in(int context) {
    Hashes chain = chains.get(chainOf[context]);
    return chain == chains.get(chainOf[0]) ? this : (out, from, max) -> fill(chain, out, from, max);
  }

  @Override
  public int fill(long[] out, int from, int max) {
    return fill(chains.get(chainOf[0]), out, from, max);
  }

  private static int fill(Hashes chain, long[] out, int from, int max) {
    int count = Math.min(max, chain.size() - from);
    for (int i = 0; i < count; i++) {
      out[i] = chain.get(from + i);
    }
    return Math.max(0, count);
  }
}
