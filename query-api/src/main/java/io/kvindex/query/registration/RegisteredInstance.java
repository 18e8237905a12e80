// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import java.util.List;

/**
 * A row of an answer: one instance with all its registered ranks.
 *
 * @param id router-facing name
 * @param ranks registered ranks, ascending, never empty
 * @param publishers its registrations, by rank
 */
public record RegisteredInstance(String id, int[] ranks, List<Registered> publishers) {
  public RegisteredInstance {
    publishers = List.copyOf(publishers);
  }

  // Arrays compare by identity: rows are told apart by name and publishers.
  @Override
  public boolean equals(Object other) {
    return other instanceof RegisteredInstance row
        && id.equals(row.id)
        && publishers.equals(row.publishers);
  }

  @Override
  public int hashCode() {
    return 31 * id.hashCode() + publishers.hashCode();
  }
}
