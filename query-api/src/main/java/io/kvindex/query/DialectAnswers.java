// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query;

import io.kvindex.query.binary.BinaryAnswers;
import io.kvindex.query.conductor.ConductorAnswers;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.dynamo.DynamoAnswers;
import io.kvindex.query.explain.Explainer;
import io.kvindex.query.http.QueryAnswers;
import io.kvindex.query.http.QueryReply;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryForm;
import io.kvindex.query.registration.RegistrationSnapshot;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Answers each query in the dialect it was asked in; explains all of them alike. Thread-safe. */
public final class DialectAnswers implements QueryAnswers {
  /** One of each kind for each thread. */
  private final ThreadLocal<Map<Dialect, QueryAnswers>> speakers;

  private final @Nullable Explainer explainer;

  /**
   * @param explainer null = nothing is explained
   */
  DialectAnswers(
      Supplier<RegistrationSnapshot> registrations,
      IndexAccess index,
      @Nullable Explainer explainer) {
    speakers =
        ThreadLocal.withInitial(
            () ->
                new EnumMap<>(
                    Map.of(
                        Dialect.CONDUCTOR,
                        new ConductorAnswers(registrations, index),
                        Dialect.BINARY,
                        new BinaryAnswers(registrations, index),
                        Dialect.DYNAMO,
                        new DynamoAnswers(registrations, index))));
    this.explainer = explainer;
  }

  /** Speaks every dialect there is, and explains nothing. */
  public static DialectAnswers all(
      Supplier<RegistrationSnapshot> registrations, IndexAccess index) {
    return new DialectAnswers(registrations, index, null);
  }

  @Override
  public void answer(QueryForm form, QueryBody query, QueryReply reply) {
    Objects.requireNonNull(speakers.get().get(query.dialect())).answer(form, query, reply);
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
