// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query;

import io.kvindex.query.binary.BinaryAnswers;
import io.kvindex.query.conductor.ConductorAnswers;
import io.kvindex.query.dynamo.DynamoAnswers;
import io.kvindex.query.explain.Explainer;
import io.kvindex.query.http.QueryAnswers;
import io.kvindex.query.http.QueryReply;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryForm;
import io.kvindex.query.registration.RegistrationSnapshot;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Answers each query in the dialect it was asked in; explains all of them alike. Thread-safe. */
public final class DialectAnswers implements QueryAnswers {
  private final QueryAnswers conductor;
  private final QueryAnswers binary;
  private final QueryAnswers dynamo;
  private final @Nullable Explainer explainer;

  /**
   * @param explainer null = nothing is explained
   */
  DialectAnswers(
      Supplier<RegistrationSnapshot> registrations,
      IndexAccess index,
      @Nullable Explainer explainer) {
    conductor = new ConductorAnswers(registrations, index);
    binary = new BinaryAnswers(registrations, index);
    dynamo = new DynamoAnswers(registrations, index);
    this.explainer = explainer;
  }

  /** Speaks every dialect there is, and explains nothing. */
  public static DialectAnswers all(
      Supplier<RegistrationSnapshot> registrations, IndexAccess index) {
    return new DialectAnswers(registrations, index, null);
  }

  @Override
  public void answer(QueryForm form, QueryBody query, QueryReply reply) {
    QueryAnswers speaker =
        switch (query.dialect()) {
          case CONDUCTOR -> conductor;
          case BINARY -> binary;
          case DYNAMO -> dynamo;
        };
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
