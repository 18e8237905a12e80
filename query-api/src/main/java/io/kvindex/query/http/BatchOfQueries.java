// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.deadline.Deadline;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.parse.BatchScanner;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryForm;
import io.kvindex.query.reply.ErrorBody;
import io.kvindex.query.reply.JsonBuffer;
import java.nio.charset.StandardCharsets;

/**
 * {@code {"queries":[...]}}: each query is answered or refused for itself, one after the other and
 * out of the one body they came in.
 */
final class BatchOfQueries implements QueryWork {
  /** Bytes of answers after which the rest is refused: what waits for a slow client is bounded. */
  static final int MAX_ANSWERS = 16 << 20;

  private static final byte[] BEGIN = ascii("{\"answers\":[");
  private static final byte[] STATUS = ascii("{\"status\":");
  private static final byte[] BODY = ascii(",\"body\":");
  private static final int NONE = -1;

  private final HotRoutes routes;
  private final Deadline deadline;
  private final Scratch scratch;
  private final BatchScanner scanner = new BatchScanner();
  private final QueryReply one = new QueryReply();
  private final BatchTrust trust = new BatchTrust();
  private int count = NONE;
  private int next;
  private int parsed = NONE;
  private QueryForm form = QueryForm.TOKENS;
  private long items;

  BatchOfQueries(HotRoutes routes, Deadline deadline, Scratch scratch) {
    this.routes = routes;
    this.deadline = deadline;
    this.scratch = scratch;
  }

  @Override
  public boolean proceed(boolean mayPause) {
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
    trust.writeTo(scratch.reply);
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
      routes.answers().answer(form, query, one);
      items += query.count();
      trust.add(one);
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
      throw ApiException.of(
          ErrorCode.TOO_MANY_ITEMS,
          "the answers before this one have "
              + MAX_ANSWERS
              + " bytes already: ask it in another batch");
    }
  }

  private int refuse(ApiException refusal, Dialect dialect) {
    routes.meters().refused(refusal.code());
    ErrorBody.write(refusal, one.body());
    return refusal.code().status(dialect);
  }

  @Override
  public boolean mayGoOn() {
    return routes.isVisible(scratch.query, true);
  }

  @Override
  public void answered(long nanos) {
    routes.meters().batchAnswered(nanos, items);
  }

  @Override
  public Dialect dialect() {
    return Dialect.CONDUCTOR;
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
