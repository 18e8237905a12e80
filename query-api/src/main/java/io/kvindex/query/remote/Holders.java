// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import java.util.Comparator;
import java.util.List;

/**
 * Which of the other replicas have a table of a partition.
 *
 * @param inOrder {@code host:port}, those that are kept up first, the dead last
 * @param mayBeReady whether one of them is kept up, as far as is known
 * @param areCut whether all that live were folded from a later offset than somebody else's, so that
 *     older blocks are missing in what they answer
 */
record Holders(List<String> inOrder, boolean mayBeReady, boolean areCut) {

  /**
   * One that may have a table.
   *
   * @param rank the higher the worse
   * @param behind records that it has not applied yet
   * @param since first offset its table was folded from
   */
  record Candidate(String address, int rank, long behind, long since) {
    static final int READY = 0;
    static final int READY_IF_AT_ALL = 1;
    static final int SUSPECT = 2;
    static final int BEHIND = 3;
    static final int DEAD = 4;

    /** {@link #since} of one that has not said anything yet. */
    static final long UNKNOWN = -1;

    private boolean lives() {
      return rank < DEAD;
    }

    private boolean lacks(long offset) {
      return since > offset;
    }
  }

  /**
   * Puts them in order. One that lacks older blocks is asked only where nobody lives that has them.
   *
   * @param earliest the earliest offset anybody's table was folded from
   */
  static Holders of(List<Candidate> candidates, long earliest) {
    boolean cut = candidates.stream().noneMatch(one -> one.lives() && !one.lacks(earliest));
    List<Candidate> inOrder =
        candidates.stream()
            .filter(one -> cut || !one.lacks(earliest))
            .sorted(
                Comparator.comparingInt(Candidate::rank)
                    .thenComparingLong(Candidate::behind)
                    .thenComparing(one -> one.lacks(earliest)))
            .toList();
    return new Holders(
        inOrder.stream().map(Candidate::address).toList(),
        inOrder.stream().anyMatch(one -> one.rank() < Candidate.BEHIND),
        cut && inOrder.stream().anyMatch(Candidate::lives));
  }
}
