// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import java.util.Arrays;

/**
 * Parses bodies of {@code /query} and {@code /query_by_hash} (conductor dialect). Made to be
 * reused; not thread-safe.
 */
public final class QueryBodyParser {
  /** Bytes of the buffer that must exist beyond the text; their content does not matter. */
  public static final int PADDING = TokenArrayScanner.PADDING;

  private final FastBodyScanner fast = new FastBodyScanner();
  private final int maxItems;

  /**
   * @param maxItems most tokens or hashes one query may bring; more are refused with 413
   */
  public QueryBodyParser(int maxItems) {
    this.maxItems = maxItems;
  }

  /**
   * Parses the first {@code length} bytes of a buffer into a reused body.
   *
   * @param buffer padded by {@link #PADDING} bytes; a shorter one is copied
   * @throws io.kvindex.query.error.ApiException for everything that is no valid query
   */
  public void parse(byte[] buffer, int length, QueryForm form, QueryBody into) {
    byte[] text =
        buffer.length - length >= PADDING ? buffer : Arrays.copyOf(buffer, length + PADDING);
    if (!fast.scan(text, 0, length, form, maxItems, into)) {
      JacksonBodyReader.read(text, 0, length, form, maxItems, into);
    }
  }
}
