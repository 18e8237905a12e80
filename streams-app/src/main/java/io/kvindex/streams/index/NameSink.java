// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

/** Takes a stored name, field by field. What the fields are: {@link NameChanges}. */
public interface NameSink {

  /** One more name, which the other methods go on about. */
  void add(
      int space,
      long mixed,
      long key,
      long context,
      int depth,
      boolean byDevice,
      long local,
      long parent);

  /** Somebody holds it. */
  void holder(long number);

  /** How many copies a holder has. */
  void copies(long of, long number);

  /** Nobody does, and this is its place in the ring. */
  void place(int inRing);
}
