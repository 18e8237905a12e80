// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import org.jspecify.annotations.Nullable;

/**
 * {@code N}: a space in which an engine hash has one meaning. Publishers of a table and namespace
 * share one; a publisher whose hashes mean something else than the shared rows say gets its own.
 *
 * @param tableRef the table
 * @param namespace deployment salt, null = none
 * @param publisherRef the only publisher it is for, {@value #SHARED} = all
 */
public record SpaceRow(int tableRef, @Nullable String namespace, int publisherRef) {

  /** Publisher of a space all publishers share. */
  public static final int SHARED = 0;

  RecordWriter encode() {
    RecordWriter out = Rows.writer(32);
    out.writeVarint(tableRef);
    out.writeString(namespace);
    out.writeVarint(publisherRef);
    return out;
  }

  static SpaceRow decode(byte[] value) {
    RecordReader in = Rows.reader(value);
    return new SpaceRow(in.readInt(), in.readString(), in.readInt());
  }
}
