// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.dynamo;

import io.kvindex.model.hash.ContextHash;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.http.QueryReply;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.match.TierCounter;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryForm;
import io.kvindex.query.prompt.Contexts;
import io.kvindex.query.prompt.PromptWalk;
import io.kvindex.query.prompt.TrustHeaders;
import io.kvindex.query.registration.TableRows;
import io.kvindex.streams.view.ContextNames;
import java.util.List;

/** One thread's lookups: walks the prompt and has the answer written. */
final class DynamoLookup {
  private final IndexAccess index;
  private final PromptWalk walk = new PromptWalk();
  private final TierCounter counter = new TierCounter();
  private final Reached reached = new Reached();
  private final TrustHeaders trust = new TrustHeaders();
  private final ScoresWriter scores = new ScoresWriter();
  private final TiersWriter tiers = new TiersWriter();
  private final long[] xor = new long[1];

  DynamoLookup(IndexAccess index) {
    this.index = index;
  }

  /** Answers {@code /query} and {@code /query_by_hash}. */
  void scores(QueryForm form, QueryBody query, List<TableRows> tables, QueryReply reply) {
    trust.clear();
    scores.begin(reply.body());
    for (TableRows rows : tables) {
      reach(form, query, rows);
      scores.add(rows, reached, reply.body());
    }
    scores.end(reply.body());
    trust.writeTo(reply);
  }

  /** Answers {@code /query_tiered_by_hash}. */
  void tiers(QueryBody query, List<TableRows> tables, QueryReply reply) {
    trust.clear();
    tiers.begin();
    for (TableRows rows : tables) {
      reach(QueryForm.TIERED, query, rows);
      tiers.add(rows, reached);
    }
    tiers.end(tables.get(0).table().blockSize(), reply.body());
    trust.writeTo(reply);
  }

  private void reach(QueryForm form, QueryBody query, TableRows rows) {
    TableView view =
        index.readable(rows.table()).within(query.deadline(), query.visibleFrom(rows.table()));
    reached.clear();
    if (form == QueryForm.TOKENS) {
      walk.walk(
          view,
          form,
          query,
          Contexts.ofRequest(query.loraName(), query.cacheSalt()),
          rows,
          counter);
      reached.add(counter);
    } else {
      reachByHash(view, query, rows);
    }
    trust.add(view, rows);
  }

  /**
   * Local hashes have adapter and salt in them by Dynamo's rule. By the standard's they have not:
   * then each variant of the prompt is walked by itself, so that none is pieced together of two.
   * Blocks of a namespace are left out, as no query of this dialect can name one.
   */
  private void reachByHash(TableView view, QueryBody query, TableRows rows) {
    HashProfile profile = rows.table().hashProfile();
    boolean standard = profile.algorithm() == Algorithm.XXH3;
    if (!standard && profile.algorithm() != Algorithm.XXH3_DYNAMO) {
      throw ApiException.of(
          ErrorCode.UNSUPPORTED,
          "hash profile "
              + profile.label()
              + " of this model has no hashes of single blocks; ask /query with token_ids");
    }
    reachByHash(view, query, rows, ContextHash.NONE);
    if (standard) {
      for (ContextNames context : view.contexts()) {
        if (context.namespace() == null && context.hash() != ContextHash.NONE) {
          reachByHash(view, query, rows, context.hash());
        }
      }
    }
  }

  private void reachByHash(TableView view, QueryBody query, TableRows rows, long context) {
    xor[0] = context;
    if (walk.walkLocals(view, query, xor, rows, counter) > 0) {
      reached.add(counter);
    }
  }
}
