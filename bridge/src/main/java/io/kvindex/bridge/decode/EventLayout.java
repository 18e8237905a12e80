// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import java.util.List;

/**
 * Which member stands where in an engine's positional events, from index 1 on (0 is the tag).
 * Elements beyond the lists are stepped over.
 *
 * @param stored members of a stored event
 * @param removed members of a removed event
 * @param object members of events about a store's objects, as many of them as an update has; empty
 *     = such events are not known
 */
record EventLayout(List<Field> stored, List<Field> removed, List<Field> object) {

  /**
   * Shortest stored event of any version, tag included: hashes, parent, tokens and block size are
   * in all.
   */
  static final int MIN_STORED = 5;

  /** Time, key and addresses come first in every event about an object. */
  private static final int MEMBERS_OF_UPDATE = 3;

  /** Fewest elements of an event of that kind, tag included. */
  static int minLength(EventKind kind) {
    return switch (kind) {
      case STORED -> MIN_STORED;
      case OBJECT_STORED, OBJECT_UPDATED -> 1 + MEMBERS_OF_UPDATE;
      case REMOVED, CLEARED, STORE_EMPTIED -> 1;
    };
  }

  /** The layout of a source without objects. */
  EventLayout(List<Field> stored, List<Field> removed) {
    this(stored, removed, List.of());
  }

  /** Whether events of that kind can come from such a source. */
  boolean knows(EventKind kind) {
    return switch (kind) {
      case STORED, REMOVED, CLEARED -> true;
      case OBJECT_STORED, OBJECT_UPDATED, STORE_EMPTIED -> !object.isEmpty();
    };
  }

  List<Field> of(EventKind kind) {
    return switch (kind) {
      case STORED -> stored;
      case REMOVED -> removed;
      case CLEARED -> List.of(Field.MEDIUM);
      case STORE_EMPTIED -> List.of();
      case OBJECT_STORED -> object;
      case OBJECT_UPDATED -> object.subList(0, MEMBERS_OF_UPDATE);
    };
  }
}
