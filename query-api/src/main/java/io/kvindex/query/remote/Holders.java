// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

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

  static final Holders NONE = new Holders(List.of(), false, false);
}
