// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Parses bodies of the query routes in all dialects. Made to be reused; not thread-safe. */
public final class QueryBodyParser {
  /** Bytes of the buffer that must exist beyond the text; their content does not matter. */
  public static final int PADDING = TokenArrayScanner.PADDING;

  private final OctetReader octets = new OctetReader();
  private final FastBodyScanner fast = new FastBodyScanner();
  private final MsgpackBodyReader packed;
  private final int maxItems;

  /**
   * @param maxItems most tokens or hashes one query may bring; more are refused with 413
   */
  public QueryBodyParser(int maxItems) {
    this.maxItems = maxItems;
    packed = new MsgpackBodyReader(maxItems);
  }

  /**
   * Parses the first {@code length} bytes of a buffer into a reused body.
   *
   * @param buffer padded by {@link #PADDING} bytes; a shorter one is copied
   * @param parameters the request's query string, null if it has none
   * @throws io.kvindex.query.error.ApiException for everything that is no valid query; {@link
   *     QueryBody#dialect} is right even then
   */
  public void parse(
      BodyType type,
      byte[] buffer,
      int length,
      QueryForm form,
      @Nullable String parameters,
      QueryBody into) {
    switch (type) {
      case JSON -> parse(buffer, length, form, into);
      case OCTETS -> octets.read(buffer, length, form, parameters, maxItems, into);
      case MSGPACK -> packed.read(buffer, length, form, into);
    }
  }

  /**
   * Parses the JSON body in {@code [from, to)}, otherwise the same.
   *
   * @param buffer padded by {@link #PADDING} bytes beyond {@code to}
   * @param from at least 8
   */
  public void parse(byte[] buffer, int from, int to, QueryForm form, QueryBody into) {
    if (!fast.scan(buffer, from, to, form, maxItems, into)) {
      JacksonBodyReader.read(buffer, from, to - from, form, maxItems, into);
    }
  }

  /** Parses a JSON body, otherwise the same. */
  public void parse(byte[] buffer, int length, QueryForm form, QueryBody into) {
    byte[] text =
        buffer.length - length >= PADDING ? buffer : Arrays.copyOf(buffer, length + PADDING);
    if (!fast.scan(text, 0, length, form, maxItems, into)) {
      JacksonBodyReader.read(text, 0, length, form, maxItems, into);
    }
  }
}
