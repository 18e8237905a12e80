// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which replicas may answer from a table, also those its group has forgotten: who was in it counts
 * until it says that it answers from another one, or has been silent for long. For one thread.
 */
final class TableUsers {

  private final Set<String> known = new TreeSet<>();

  /** Since when they do not answer, as {@link System#nanoTime}. */
  private final Map<String, Long> silentSince = new HashMap<>();

  /** These have a share in it now. */
  void note(Collection<String> members) {
    known.addAll(members);
  }

  /** Those to ask, in order. */
  List<String> known() {
    return List.copyOf(known);
  }

  /**
   * Takes in what they said.
   *
   * @param serving which application each of them answers from; the silent ones are missing
   * @param application the table's
   * @param members those the group has now
   * @param now as {@link System#nanoTime}
   * @param silenceNanos how long one that is no member may be silent before it is forgotten
   * @return those that may answer from the table, in order
   */
  List<String> after(
      Map<String, String> serving,
      String application,
      Collection<String> members,
      long now,
      long silenceNanos) {
    List<String> users = new ArrayList<>();
    for (String replica : known()) {
      String said = serving.get(replica);
      boolean uses;
      if (said == null) {
        long since = silentSince.computeIfAbsent(replica, one -> now);
        uses = members.contains(replica) || now - since <= silenceNanos;
      } else {
        silentSince.remove(replica);
        uses = said.equals(application);
      }
      if (uses) {
        users.add(replica);
      } else if (!members.contains(replica)) {
        known.remove(replica);
        silentSince.remove(replica);
      }
    }
    return users;
  }
}
