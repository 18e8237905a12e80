// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.view;

import io.kvindex.model.PublisherId;
import io.kvindex.model.StreamId;
import io.kvindex.model.TableId;
import io.kvindex.streams.index.PrefixIndex;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What readers see of a partition. Every method may be called by any thread and never waits. A view
 * outlives its task: it then keeps answering from what it knew and says that it {@link #isClosed}.
 */
public interface PartitionView {

  /** Partition of the events topic. */
  int partition();

  /** Whether it follows nothing any more, so that its answers grow stale. */
  boolean isClosed();

  /** The tables of this partition; grows, never shrinks. */
  Map<TableId, PrefixIndex> tables();

  /** Contexts blocks of a table were announced in; empty for an unknown table. */
  Collection<ContextNames> contexts(TableId table);

  /** Name an instance's events gave to the adapter number, null = never told. */
  @Nullable String loraName(TableId table, String instanceId, long loraId);

  /** How far a stream is visible, null = nothing of it yet. */
  @Nullable StreamPosition position(StreamId stream);

  /** All streams seen in this partition. */
  Map<StreamId, StreamPosition> positions();

  /**
   * Publishers of which a stream has holes, of whichever table; nearly always none. The same object
   * until it changes, so that what follows from it is worked out once.
   */
  Set<PublisherId> degradedPublishers();

  /** Records that wait for their predecessor. */
  int heldRecords();

  /** Resident blocks whose prefix is not known yet. */
  int orphans();

  /**
   * First offset it was folded from, by this process or where it was borrowed; what was announced
   * before may be missing. 0 = nothing is, or nothing was folded yet.
   */
  long since();

  /**
   * Highest offset of the events topic that is dealt with, -1 = none: what came is visible, waits
   * for its predecessor or was no use.
   */
  long appliedOffset();

  /**
   * Tells what a table holds, from its rows. Unlike the other methods it takes its time (some
   * seconds a million blocks) and must not be called by threads that answer queries. Sees each
   * block as it was at some moment during the call. Pools and blocks that expire are left out.
   *
   * @param wanted which contexts to tell, by their hash
   * @throws IOException thrown by the visitor
   * @throws DumpFailedException if the rows can not be read, maybe after some were told
   */
  void dump(TableId table, LongPredicate wanted, DumpVisitor visitor)
      throws IOException, DumpFailedException;

  /**
   * Sums up what each owner holds, from the rows, pools and blocks that expire included. Reads all
   * of them, as {@link #dump} does, and must not be called by threads that answer queries either.
   *
   * @param wanted which owners to tell
   * @throws DumpFailedException if the rows can not be read
   */
  PartitionDigest digest(Predicate<OwnerIdentity> wanted) throws DumpFailedException;

  /**
   * Lists what an owner holds, from the rows, in the order of engine hashes as unsigned numbers.
   * Not for threads that answer queries.
   *
   * @param ownerId see {@link OwnerIdentity#id}
   * @param from the first engine hash
   * @param most rows to list; a block's rows are never apart, so there may be a few more
   * @return null = no live owner has that id
   * @throws DumpFailedException if the rows can not be read
   */
  @Nullable List<HeldBlock> blocks(String ownerId, long from, int most) throws DumpFailedException;
}
