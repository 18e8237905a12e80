// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.row;

import io.kvindex.model.event.RecordWriter;
import org.apache.kafka.common.utils.Bytes;

/** {@code X}: what is known of the partition's log itself. */
public final class LogRow {

  /** Records were gone before they could be read. */
  public static final int CUT = 0;

  /** Nothing comes of records up to there that the rows do not have. */
  public static final int PLACE = 1;

  private LogRow() {}

  /** The row's key. */
  public static Bytes key(int which) {
    return RowKeys.ofId(RowKind.LOG, which);
  }

  /** The bytes to store for {@link #CUT}. */
  public static byte[] cut() {
    return RowValue.writer(1).toByteArray();
  }

  /**
   * The bytes to store for {@link #PLACE}.
   *
   * @param offset of the last such record
   */
  public static byte[] place(long offset) {
    RecordWriter out = RowValue.writer(9);
    out.writeZigZag(offset);
    return out.toByteArray();
  }

  /** Reads {@link #place} back. */
  public static long decodePlace(byte[] value) {
    return RowValue.reader(value).readZigZag();
  }
}
