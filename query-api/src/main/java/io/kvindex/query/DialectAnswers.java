// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query;

import io.kvindex.query.binary.BinaryAnswers;
import io.kvindex.query.conductor.ConductorAnswers;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.dynamo.DynamoAnswers;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.explain.Explainer;
import io.kvindex.query.http.QueryAnswers;
import io.kvindex.query.http.QueryReply;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryForm;
import io.kvindex.query.registration.RegistrationSnapshot;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Answers each query in the dialect it was asked in; explains all of them alike. Thread-safe. */
public final class DialectAnswers implements QueryAnswers {
  private final EnumMap<Dialect, QueryAnswers> speakers;
  private final @Nullable Explainer explainer;

  private DialectAnswers(Map<Dialect, QueryAnswers> speakers, @Nullable Explainer explainer) {
    this.speakers = new EnumMap<>(speakers);
    this.explainer = explainer;
  }

  /** Speaks every dialect there is, and explains nothing. */
  public static DialectAnswers all(
      Supplier<RegistrationSnapshot> registrations, IndexAccess index) {
    return new DialectAnswers(
        Map.of(
            Dialect.CONDUCTOR,
            new ConductorAnswers(registrations, index),
            Dialect.BINARY,
            new BinaryAnswers(registrations, index),
            Dialect.DYNAMO,
            new DynamoAnswers(registrations, index)),
        null);
  }

  /** The same, with explanations. */
  DialectAnswers explainedBy(Explainer own) {
    return new DialectAnswers(speakers, own);
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

  @Override
  public void explain(QueryBody query, Asked asked, QueryReply reply) {
    if (explainer == null) {
      QueryAnswers.super.explain(query, asked, reply);
    } else {
      explainer.explain(query, asked, reply);
    }
  }
}
