// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** How a request's body is written. */
public enum BodyType {
  JSON,
  /** MessagePack: the binary dialect. */
  MSGPACK,
  /** Little-endian u32 tokens or u64 hashes; everything else stands in the query string. */
  OCTETS;

  /**
   * By Content-Type. Any other type is read as JSON: curl sends a form type unless told otherwise.
   */
  public static BodyType of(@Nullable String contentType) {
    if (contentType == null || contentType.startsWith("application/json")) {
      return JSON;
    }
    String lower = contentType.toLowerCase(Locale.ROOT);
    if (lower.contains("msgpack")) {
      return MSGPACK;
    }
    return lower.startsWith("application/octet-stream") ? OCTETS : JSON;
  }
}
