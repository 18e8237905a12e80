// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryForm;

/** Answers parsed queries. Called by many server threads at once; must not block. */
@FunctionalInterface
public interface QueryAnswers {
  /**
   * Writes the answer.
   *
   * @param query valid during the call only
   * @throws io.kvindex.query.error.ApiException to refuse; what was written so far is dropped
   */
  void answer(QueryForm form, QueryBody query, QueryReply reply);
}
