// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.row;

import io.kvindex.model.event.RecordWriter;
import org.apache.kafka.common.utils.Bytes;

/** {@code X}: what is known of the log and of the table as a whole. */
public final class LogRow {

  /** Records of the log were gone before they could be read. */
  public static final int CUT = 0;

  /** The highest number an owner ever had: none is given twice. */
  public static final int OWNERS = 1;

  private LogRow() {}

  /** The row's key. */
  public static Bytes key(int which) {
    return RowKeys.ofId(RowKind.LOG, which);
  }

  /** The bytes to store for {@link #CUT}. */
  public static byte[] cut() {
    return RowValue.writer(1).toByteArray();
  }

  /** The bytes to store for {@link #OWNERS}. */
  public static byte[] owners(int highest) {
    RecordWriter out = RowValue.writer(6);
    out.writeVarint(highest);
    return out.toByteArray();
  }

  /** Reads {@link #owners} back. */
  public static int decodeOwners(byte[] value) {
    return RowValue.reader(value).readInt();
  }
}
