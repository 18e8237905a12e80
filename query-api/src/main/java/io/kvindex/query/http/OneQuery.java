// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.deadline.Deadline;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.parse.BodyType;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryForm;
import org.jspecify.annotations.Nullable;

/** The usual: a body is a query. */
final class OneQuery implements QueryWork {
  private final HotRoutes routes;
  private final QueryForm form;
  private final BodyType type;
  private final @Nullable String parameters;
  private final Deadline deadline;
  private final Scratch scratch;
  private boolean parsed;

  /**
   * @param parameters the request's query string, null if it has none
   */
  OneQuery(
      HotRoutes routes,
      QueryForm form,
      BodyType type,
      @Nullable String parameters,
      Deadline deadline,
      Scratch scratch) {
    this.routes = routes;
    this.form = form;
    this.type = type;
    this.parameters = parameters;
    this.deadline = deadline;
    this.scratch = scratch;
  }

  @Override
  public boolean proceed(boolean mayPause) {
    QueryBody query = scratch.query;
    if (!parsed) {
      scratch.parser.parse(type, scratch.body(), scratch.length(), form, parameters, query);
      query.answerBy(deadline);
      parsed = true;
    }
    deadline.check();
    if (!routes.isVisible(query, mayPause)) {
      return false;
    }
    routes.answers().answer(form, query, scratch.reply);
    return true;
  }

  @Override
  public boolean mayGoOn() {
    return routes.isVisible(scratch.query, true);
  }

  @Override
  public void answered(long nanos) {
    routes.meters().answered(form, nanos, scratch.query.count());
  }

  @Override
  public Dialect dialect() {
    return scratch.query.dialect();
  }
}
