// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryForm;

/**
 * Answers parsed queries. Called by many server threads at once; waits for nothing but other
 * replicas, and for these within bounds.
 */
@FunctionalInterface
public interface QueryAnswers {
  /**
   * Writes the answer.
   *
   * @param query valid during the call only
   * @throws io.kvindex.query.error.ApiException to refuse; what was written so far is dropped
   */
  void answer(QueryForm form, QueryBody query, QueryReply reply);

  /**
   * Writes, as JSON, why the query is answered the way it is; where nobody can tell, there is no
   * such path.
   *
   * @param query has tokens; valid during the call only
   * @param asked what the answer says of the request
   * @throws io.kvindex.query.error.ApiException to refuse; what was written so far is dropped
   */
  default void explain(QueryBody query, Asked asked, QueryReply reply) {
    throw ErrorCode.NOT_FOUND.because("no such path: POST /explain");
  }

  /**
   * How a query came.
   *
   * @param address where this server was reached, {@code host:port}
   * @param startNanos when its first byte came, as {@link System#nanoTime}
   * @param parsedNanos when it was understood
   */
  record Asked(String address, long startNanos, long parsedNanos) {}
}
