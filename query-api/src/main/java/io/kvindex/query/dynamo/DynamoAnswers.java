// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.dynamo;

import io.kvindex.model.hash.ContextHash;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.http.QueryAnswers;
import io.kvindex.query.http.QueryReply;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.match.TierCounter;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryForm;
import io.kvindex.query.prompt.Contexts;
import io.kvindex.query.prompt.PromptWalk;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.query.registration.TableRows;
import io.kvindex.query.reply.JsonBuffer;
import io.kvindex.streams.view.ContextNames;
import java.util.List;
import java.util.NavigableMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Answers as Dynamo's standalone indexer does: per rank one cursor that goes down the tiers, in
 * tokens for {@code /query} and {@code /query_by_hash}, in blocks for {@code
 * /query_tiered_by_hash}. For one thread.
 */
public final class DynamoAnswers implements QueryAnswers {
  private final Supplier<RegistrationSnapshot> registrations;
  private final IndexAccess index;
  private final PromptWalk walk = new PromptWalk();
  private final TierCounter counter = new TierCounter();
  private final Reached reached = new Reached();
  private final ScoresWriter scores = new ScoresWriter();
  private final TiersWriter tiers = new TiersWriter();
  private final long[] xor = new long[1];

  public DynamoAnswers(Supplier<RegistrationSnapshot> registrations, IndexAccess index) {
    this.registrations = registrations;
    this.index = index;
  }

  @Override
  public void answer(QueryForm form, QueryBody query, QueryReply reply) {
    List<TableRows> tables = tables(registrations.get(), query);
    JsonBuffer out = reply.body();
    reply.begin();
    if (form == QueryForm.TIERED) {
      tiers.begin();
      for (TableRows rows : tables) {
        reach(form, query, rows, reply);
        tiers.add(rows, reached);
      }
      tiers.end(tables.get(0).table().blockSize(), out);
    } else {
      scores.begin(out);
      for (TableRows rows : tables) {
        reach(form, query, rows, reply);
        scores.add(rows, reached, out);
      }
      scores.end(out);
    }
  }

  /**
   * The tables of the query, one unless two hash profiles crossed. It names no block size: theirs
   * is fixed by the first registration. Here other dialects may have registered further ones, so
   * the one of Dynamo's registrations counts, which are told by their hash rule; else the only one.
   *
   * @throws ApiException 404 if nothing is registered, 409 if the block size is open
   */
  private static List<TableRows> tables(RegistrationSnapshot snapshot, QueryBody query) {
    NavigableMap<Integer, List<TableRows>> sizes = snapshot.tables(query.tenant(), query.model());
    List<TableRows> found =
        query.blockSize() == QueryBody.NO_BLOCK_SIZE
            ? ofOneSize(sizes, query)
            : sizes.getOrDefault(query.blockSize(), List.of());
    if (found.isEmpty()) {
      throw ErrorCode.NOT_FOUND.because(
          "no indexer for model="
              + ErrorCode.echo(query.model())
              + " routing_group="
              + ErrorCode.echo(query.tenant()));
    }
    return found;
  }

  private static List<TableRows> ofOneSize(
      NavigableMap<Integer, List<TableRows>> sizes, QueryBody query) {
    if (sizes.size() <= 1) {
      return sizes.isEmpty() ? List.of() : sizes.firstEntry().getValue();
    }
    List<List<TableRows>> theirs =
        sizes.values().stream().filter(DynamoAnswers::hasDynamos).toList();
    if (theirs.size() == 1) {
      return theirs.get(0);
    }
    throw ErrorCode.REGISTRATION_CONFLICT.of(
        "block_size",
        "several block sizes are registered for model="
            + ErrorCode.echo(query.model())
            + " routing_group="
            + ErrorCode.echo(query.tenant())
            + ", say which `block_size`: "
            + sizes.keySet().stream().map(Object::toString).collect(Collectors.joining(", ")));
  }

  private static boolean hasDynamos(List<TableRows> tables) {
    for (TableRows rows : tables) {
      if (rows.table().hashProfile().algorithm() == Algorithm.XXH3_DYNAMO) {
        return true;
      }
    }
    return false;
  }

  private void reach(QueryForm form, QueryBody query, TableRows rows, QueryReply reply) {
    TableView view =
        index.readable(rows.table()).within(query.deadline(), query.visibleFrom(rows.table()));
    reached.clear();
    counter.over(rows.instances());
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
    reply.madeFrom(view, rows.degraded(view.degradedPublishers()));
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
      throw ErrorCode.UNSUPPORTED.because(
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
