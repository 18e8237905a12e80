// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which replicas hold a partition, as {@code host:port} they advertise.
 *
 * @param active the one that keeps it up, null = none known; may be this one
 * @param standbys those with a copy, may be this one; in order
 */
public record Holders(@Nullable String active, List<String> standbys) {

  /** Nobody is known to. */
  public static final Holders NONE = new Holders(null, List.of());

  public Holders {
    standbys = List.copyOf(standbys);
  }

  /** Those to ask, best first. */
  public List<String> inOrder() {
    List<String> all = new ArrayList<>(standbys.size() + 1);
    if (active != null) {
      all.add(active);
    }
    all.addAll(standbys);
    return all;
  }

  /** The same without one of them. */
  Holders without(@Nullable String address) {
    return new Holders(
        active != null && active.equals(address) ? null : active,
        standbys.stream().filter(one -> !one.equals(address)).toList());
  }
}
