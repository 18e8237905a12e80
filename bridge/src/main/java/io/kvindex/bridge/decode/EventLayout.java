// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import java.util.List;

/**
 * Which member stands where in an engine's positional events, from index 1 on (0 is the tag).
 * Elements beyond the lists are stepped over.
 *
 * @param stored members of a stored event
 * @param removed members of a removed event
 */
record EventLayout(List<Field> stored, List<Field> removed) {

  /**
   * Shortest stored event of any version, tag included: hashes, parent, tokens and block size are
   * in all.
   */
  static final int MIN_STORED = 5;

  List<Field> of(EventKind kind) {
    return switch (kind) {
      case STORED -> stored;
      case REMOVED -> removed;
      case CLEARED -> List.of();
    };
  }
}
