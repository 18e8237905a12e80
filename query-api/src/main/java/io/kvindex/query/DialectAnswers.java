// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query;

import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.http.QueryAnswers;
import io.kvindex.query.http.QueryReply;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryForm;
import java.util.EnumMap;
import java.util.Map;

/** Answers each query in the dialect it was asked in. */
final class DialectAnswers implements QueryAnswers {
  private final EnumMap<Dialect, QueryAnswers> speakers;

  DialectAnswers(Map<Dialect, QueryAnswers> speakers) {
    this.speakers = new EnumMap<>(speakers);
  }

  @Override
  public void answer(QueryForm form, QueryBody query, QueryReply reply) {
    QueryAnswers speaker = speakers.get(query.dialect());
    if (speaker == null) {
      throw ApiException.of(
          ErrorCode.UNSUPPORTED,
          "queries in the " + query.dialect() + " dialect are not served yet");
    }
    speaker.answer(form, query, reply);
  }
}
