// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.row;

import org.apache.kafka.common.utils.Bytes;

/** {@code X}: records of the log were gone before they could be read. */
public final class LogRow {

  private static final int CUT = 0;

  private LogRow() {}

  /** The row's key. */
  public static Bytes key() {
    return RowKeys.ofId(RowKind.LOG, CUT);
  }

  /** The bytes to store. */
  public static byte[] cut() {
    return RowValue.writer(1).toByteArray();
  }
}
