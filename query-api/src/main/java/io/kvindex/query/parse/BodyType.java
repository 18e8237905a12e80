// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
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

  /**
   * For routes whose bodies are JSON in all dialects that have them.
   *
   * @throws ApiException (415) where the type says MessagePack or octets
   */
  public static void requireJson(@Nullable String contentType, String path) {
    if (of(contentType) != JSON) {
      throw ErrorCode.UNSUPPORTED_CONTENT_TYPE.because(
          path + " takes JSON, got " + ErrorCode.echo(String.valueOf(contentType)));
    }
  }
}
