// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

/** Takes rows of dictionaries while a table is loaded, in the order of their keys. */
public interface Dictionary {

  /**
   * A row as it was put into the journal.
   *
   * @throws io.kvindex.model.event.MalformedRecordException if it can not be
   */
  void row(byte[] key, byte[] value);

  /**
   * There are no more: blocks have all their tables, spaces and holders now.
   *
   * @throws io.kvindex.model.event.MalformedRecordException if rows contradict each other
   */
  default void end() {}
}
