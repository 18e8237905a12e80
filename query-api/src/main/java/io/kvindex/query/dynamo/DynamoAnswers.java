// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.dynamo;

import io.kvindex.query.http.QueryAnswers;
import io.kvindex.query.http.QueryReply;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryForm;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.query.registration.TableRows;
import java.util.List;
import java.util.function.Supplier;

/**
 * Answers as Dynamo's standalone indexer does: per rank one cursor that goes down the tiers, in
 * tokens for {@code /query} and {@code /query_by_hash}, in blocks for {@code
 * /query_tiered_by_hash}.
 */
public final class DynamoAnswers implements QueryAnswers {
  private final Supplier<RegistrationSnapshot> registrations;
  private final ThreadLocal<DynamoLookup> lookups;

  public DynamoAnswers(Supplier<RegistrationSnapshot> registrations, IndexAccess index) {
    this.registrations = registrations;
    lookups = ThreadLocal.withInitial(() -> new DynamoLookup(index));
  }

  @Override
  public void answer(QueryForm form, QueryBody query, QueryReply reply) {
    List<TableRows> tables = DynamoTables.of(registrations.get(), query);
    DynamoLookup lookup = lookups.get();
    if (form == QueryForm.TIERED) {
      lookup.tiers(query, tables, reply);
    } else {
      lookup.scores(form, query, tables, reply);
    }
  }
}
