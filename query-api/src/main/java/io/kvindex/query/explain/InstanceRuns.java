// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.explain;

import io.kvindex.query.explain.InstanceRuns.End;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** How one instance held a prompt, from its first block on; filled by a {@link RunRecorder}. */
final class InstanceRuns {
  /** Runs kept of an instance: what flickers from block to block would fill the answer. */
  static final int MAX_RUNS = 256;

  /**
   * Blocks held the same way.
   *
   * @param from first block
   * @param to the block after the last one
   * @param media answer keys, {@code @pool} behind those of a pool
   */
  record Run(int from, int to, Set<String> media) {}

  /** Why a prefix ended. */
  enum End {
    /** All complete blocks of the prompt are held. */
    END_OF_PROMPT,
    /** Other owners of the table hold the next block, this instance and its pools do not. */
    HELD_BY_OTHERS,
    /** No live owner holds the next block. */
    HELD_BY_NOBODY,
    /** Neither the instance nor a pool that serves it holds any block of the table. */
    NOTHING_STORED
  }

  private final List<Run> runs = new ArrayList<>();
  private Set<String> media = Set.of();
  private Set<String> now = new TreeSet<>();
  private int since;
  private int omitted;
  private int ended = -1;
  private @Nullable End end;
  private boolean stores;

  /** It, or a pool of its, is an owner in the table. */
  void stores() {
    stores = true;
  }

  /** It holds a block that way. */
  void holds(String medium) {
    now.add(medium);
  }

  /** All that hold a block are told. */
  void settle(int position) {
    if (ended >= 0) {
      return;
    }
    if (now.isEmpty()) {
      end(position, End.HELD_BY_OTHERS);
    } else if (!now.equals(media)) {
      close(position);
      media = now;
      since = position;
    }
    now = new TreeSet<>();
  }

  void end(int position, End why) {
    if (ended < 0) {
      close(position);
      ended = position;
      end = stores || why == End.END_OF_PROMPT ? why : End.NOTHING_STORED;
    }
  }

  private void close(int position) {
    if (media.isEmpty() || position == since) {
      return;
    }
    if (runs.size() < MAX_RUNS) {
      runs.add(new Run(since, position, media));
    } else {
      omitted++;
    }
  }

  boolean isGoingOn() {
    return ended < 0;
  }

  /** Blocks of its prefix, which is also the block it ended at. */
  int matched() {
    return Math.max(0, ended);
  }

  End end() {
    End why = end;
    return why == null ? End.NOTHING_STORED : why;
  }

  List<Run> runs() {
    return runs;
  }

  /** Runs beyond {@link #MAX_RUNS}. */
  int omitted() {
    return omitted;
  }
}
