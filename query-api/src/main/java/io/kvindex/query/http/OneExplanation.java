// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.deadline.Deadline;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.http.QueryAnswers.Asked;
import io.kvindex.query.parse.BodyType;
import io.kvindex.query.parse.QueryForm;
import org.eclipse.jetty.server.Request;

/** A body is a query that is explained, not answered; never waits for events. */
final class OneExplanation implements QueryWork {
  private final HotRoutes routes;
  private final BodyType type;
  private final Request request;
  private final Deadline deadline;
  private final Scratch scratch;

  OneExplanation(
      HotRoutes routes, BodyType type, Request request, Deadline deadline, Scratch scratch) {
    this.routes = routes;
    this.type = type;
    this.request = request;
    this.deadline = deadline;
    this.scratch = scratch;
  }

  @Override
  public boolean proceed(boolean mayPause) {
    scratch.parser.parse(
        type,
        scratch.body(),
        scratch.length(),
        QueryForm.TOKENS,
        request.getHttpURI().getQuery(),
        scratch.query);
    scratch.query.answerBy(deadline);
    deadline.check();
    String address = Request.getLocalAddr(request) + ":" + Request.getLocalPort(request);
    Asked asked = new Asked(address, request.getBeginNanoTime(), System.nanoTime());
    routes.answers().explain(scratch.query, asked, scratch.reply);
    return true;
  }

  @Override
  public boolean mayGoOn() {
    return true;
  }

  /** An explanation is no query: it would be the slowest of them. */
  @Override
  public void answered(long nanos) {}

  @Override
  public Dialect dialect() {
    return scratch.query.dialect();
  }
}
