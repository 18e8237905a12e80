// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Queries whose body is nothing but little-endian u32 tokens or u64 hashes: copied, not parsed. A
 * client repeats its parameters from request to request, so the last ones read are kept. Not
 * thread-safe.
 */
final class OctetReader {
  private final QueryBody last = new QueryBody();
  private @Nullable QueryForm lastForm;
  private @Nullable String lastParameters;

  /**
   * @throws ApiException for everything that is no valid query
   */
  void read(
      byte[] body,
      int length,
      QueryForm form,
      @Nullable String parameters,
      int maxItems,
      QueryBody into) {
    if (form == lastForm && Objects.equals(parameters, lastParameters)) {
      into.reset();
    } else {
      lastForm = null;
      names(form, parameters, into);
      last.takeNames(into);
      lastForm = form;
      lastParameters = parameters;
    }
    into.takeNames(last);
    items(body, length, form, maxItems, into);
  }

  /** Parameters mean what the JSON members of their names mean, and are refused in their words. */
  private static void names(QueryForm form, @Nullable String parameters, QueryBody into) {
    OctetParameters given = new OctetParameters(form, parameters == null ? "" : parameters);
    into.reset();
    into.dialect = given.dialect();
    byte[] json = given.asJson(itemsName(form, given.dialect())).getBytes(StandardCharsets.UTF_8);
    JacksonBodyReader.read(json, 0, json.length, form, 0, into);
  }

  private static String itemsName(QueryForm form, Dialect dialect) {
    if (form == QueryForm.TOKENS) {
      return "token_ids";
    }
    return dialect == Dialect.DYNAMO ? "block_hashes" : "seq_hashes";
  }

  private static void items(byte[] body, int length, QueryForm form, int maxItems, QueryBody into) {
    int width = form == QueryForm.TOKENS ? Integer.BYTES : Long.BYTES;
    if (length % width != 0) {
      throw ErrorCode.INVALID_VALUE.because(
          "the body must be whole little-endian "
              + (form == QueryForm.TOKENS ? "u32 tokens" : "u64 hashes")
              + ", got "
              + length
              + " bytes");
    }
    int count = length / width;
    if (count > maxItems) {
      throw ErrorCode.TOO_MANY_ITEMS.because(
          "the body has " + count + " items, more than " + maxItems);
    }
    ByteBuffer octets = ByteBuffer.wrap(body, 0, length).order(ByteOrder.LITTLE_ENDIAN);
    if (form == QueryForm.TOKENS) {
      octets.asIntBuffer().get(into.tokensWithRoom(count), 0, count);
    } else {
      octets.asLongBuffer().get(into.hashesWithRoom(count), 0, count);
    }
    into.setCount(count);
  }
}
