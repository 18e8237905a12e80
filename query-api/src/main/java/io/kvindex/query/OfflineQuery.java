// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query;

import io.kvindex.query.http.HttpSettings;
import io.kvindex.query.http.QueryReply;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.Trust;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryBodyParser;
import io.kvindex.query.parse.QueryForm;
import io.kvindex.query.registration.RegistrationSnapshot;
import org.jspecify.annotations.Nullable;

/** Answers {@code POST /query} as a server does, without one. */
public final class OfflineQuery {

  private OfflineQuery() {}

  /**
   * What a server would have sent.
   *
   * @param body its JSON
   * @param state {@code X-KvIndex-State}
   * @param degraded {@code X-KvIndex-Degraded}, null = nobody is
   */
  public record Answer(String body, @Nullable String state, @Nullable String degraded) {}

  /**
   * Answers a JSON body.
   *
   * @throws io.kvindex.query.error.ApiException if a server would refuse it
   */
  public static Answer ask(RegistrationSnapshot registrations, IndexAccess index, byte[] json) {
    QueryBody query = new QueryBody();
    new QueryBodyParser(HttpSettings.DEFAULT.maxItems())
        .parse(json, json.length, QueryForm.TOKENS, query);
    QueryReply reply = new QueryReply();
    DialectAnswers.all(() -> registrations, index).answer(QueryForm.TOKENS, query, reply);
    Trust trust = reply.trust();
    return new Answer(
        reply.body().asText(), trust == null ? null : trust.headerValue(), reply.degraded());
  }
}
