// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.query.deadline.Deadline;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.http.ScratchPool.Scratch;
import io.kvindex.query.parse.BatchScanner;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryForm;
import io.kvindex.query.reply.ControlReplies;
import io.kvindex.query.reply.JsonBuffer;

/**
 * {@code {"queries":[...]}}: each query is answered or refused for itself, one after the other and
 * out of the one body they came in.
 */
final class BatchOfQueries extends QueryWork {
  /** Bytes of answers after which the rest is refused: what waits for a slow client is bounded. */
  static final int MAX_ANSWERS = 16 << 20;

  private static final byte[] BEGIN = JsonBuffer.ascii("{\"answers\":[");
  private static final byte[] STATUS = JsonBuffer.ascii("{\"status\":");
  private static final byte[] BODY = JsonBuffer.ascii(",\"body\":");
  private static final int NONE = -1;

  private final BatchScanner scanner = new BatchScanner();
  private final QueryReply one = new QueryReply();
  private int count = NONE;
  private int next;
  private int parsed = NONE;
  private QueryForm form = QueryForm.TOKENS;
  private long items;

  BatchOfQueries(HotRoutes routes, Deadline deadline, Scratch scratch) {
    super(routes, deadline, scratch);
  }

  @Override
  boolean proceed(boolean mayPause) {
    JsonBuffer out = scratch.reply.body();
    if (count == NONE) {
      count = scanner.split(scratch.body(), scratch.length());
      out.raw(BEGIN);
    }
    while (next < count) {
      deadline.check();
      if (!answerNext(mayPause)) {
        return false;
      }
    }
    out.raw(']').raw('}');
    return true;
  }

  private boolean answerNext(boolean mayPause) {
    QueryBody query = scratch.query;
    one.clear();
    int status = 200;
    try {
      if (parsed != next) {
        parsed = next;
        parse(query);
      }
      if (!routes.isVisible(query, mayPause)) {
        return false;
      }
      routes.answers.answer(form, query, one);
      items += query.count();
      scratch.reply.madeFrom(one);
    } catch (ApiException refusal) {
      if (refusal.code() == ErrorCode.DEADLINE_EXCEEDED) {
        throw refusal;
      }
      status = refuse(refusal, query.dialect());
    } catch (RuntimeException e) {
      status = refuse(QueryExchange.incident(e), query.dialect());
    }
    JsonBuffer out = scratch.reply.body();
    if (next > 0) {
      out.raw(',');
    }
    out.raw(STATUS).number(status).raw(BODY).raw(one.body()).raw('}');
    next++;
    return true;
  }

  private void parse(QueryBody query) {
    form = scanner.form(next);
    scratch.parser.parse(scratch.body(), scanner.from(next), scanner.to(next), form, query);
    query.answerBy(deadline);
    if (scratch.reply.body().length() > MAX_ANSWERS) {
      throw ErrorCode.TOO_MANY_ITEMS.because(
          "the answers before this one have "
              + MAX_ANSWERS
              + " bytes already: ask it in another batch");
    }
  }

  private int refuse(ApiException refusal, Dialect dialect) {
    routes.meters.refused(refusal.code());
    one.body().clear();
    JsonNode body = ControlReplies.of(refusal, Dialect.CONDUCTOR);
    one.body().raw(ControlReplies.encoded(body, Dialect.CONDUCTOR));
    return refusal.code().status(dialect);
  }

  @Override
  void answered(long nanos) {
    routes.meters.batchAnswered(nanos, items);
  }
}
