// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.conductor;

import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.http.QueryAnswers;
import io.kvindex.query.http.QueryReply;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryForm;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.query.registration.TableRows;
import io.kvindex.query.reply.JsonBuffer;
import java.util.List;
import java.util.NavigableMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * {@code {tenant: {instance: row}}}. The tenant is always there; unknown tenant, model, block size
 * or instance is an empty answer, unknown adapter or salt are rows of zeros.
 */
public final class ConductorAnswers implements QueryAnswers {
  private final Supplier<RegistrationSnapshot> registrations;
  private final ThreadLocal<PromptLookup> lookups;

  public ConductorAnswers(Supplier<RegistrationSnapshot> registrations, IndexAccess index) {
    this.registrations = registrations;
    lookups = ThreadLocal.withInitial(() -> new PromptLookup(index));
  }

  @Override
  public void answer(QueryForm form, QueryBody query, QueryReply reply) {
    List<TableRows> tables = tables(query);
    JsonBuffer out = reply.body();
    out.raw('{').name(query.tenant()).raw('{');
    lookups.get().write(form, query, tables, reply);
    out.raw('}').raw('}');
  }

  private List<TableRows> tables(QueryBody query) {
    NavigableMap<Integer, List<TableRows>> sizes =
        registrations.get().tables(query.tenant(), query.model());
    if (query.blockSize() != QueryBody.NO_BLOCK_SIZE) {
      return sizes.getOrDefault(query.blockSize(), List.of());
    }
    if (sizes.size() > 1) {
      throw ApiException.field(
          ErrorCode.MISSING,
          "block_size",
          "`block_size` is missing and several are registered for this model: "
              + sizes.keySet().stream().map(Object::toString).collect(Collectors.joining(", ")));
    }
    return sizes.isEmpty() ? List.of() : sizes.firstEntry().getValue();
  }
}
