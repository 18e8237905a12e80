// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.deadline.Deadline;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.http.QueryAnswers.Asked;
import io.kvindex.query.http.ScratchPool.Scratch;
import io.kvindex.query.parse.BodyType;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryForm;
import java.util.Arrays;
import org.eclipse.jetty.server.Request;

/**
 * What is done with a body that was read; may pause until an event is visible. Batches are {@link
 * BatchOfQueries}.
 */
abstract class QueryWork {
  final HotRoutes routes;
  final Deadline deadline;
  final Scratch scratch;

  QueryWork(HotRoutes routes, Deadline deadline, Scratch scratch) {
    this.routes = routes;
    this.deadline = deadline;
    this.scratch = scratch;
  }

  /**
   * Begins, or goes on where it paused.
   *
   * @param mayPause whether there is time to wait for events
   * @return true when the reply is complete, false to be called again once {@link #mayGoOn}
   * @throws io.kvindex.query.error.ApiException to refuse the request
   */
  abstract boolean proceed(boolean mayPause);

  /** Counts the answer. */
  abstract void answered(long nanos);

  /** Whether what it paused for has happened. Any thread. */
  boolean mayGoOn() {
    return routes.isVisible(scratch.query, true);
  }

  /** Whose words a refusal has to be in; known once it has begun, whatever came of it. */
  Dialect dialect() {
    return Dialect.CONDUCTOR;
  }

  /** The one model it is about, empty = there is none; known once it has begun. */
  String model() {
    return "";
  }

  /** The usual: a body is a query. */
  static class One extends QueryWork {
    final QueryForm form;
    final Request request;
    private final BodyType type;
    private boolean parsed;

    One(
        HotRoutes routes,
        QueryForm form,
        BodyType type,
        Request request,
        Deadline deadline,
        Scratch scratch) {
      super(routes, deadline, scratch);
      this.form = form;
      this.type = type;
      this.request = request;
    }

    @Override
    boolean proceed(boolean mayPause) {
      QueryBody query = scratch.query;
      if (!parsed) {
        String parameters = request.getHttpURI().getQuery();
        scratch.parser.parse(type, scratch.body(), scratch.length(), form, parameters, query);
        query.answerBy(deadline);
        parsed = true;
      }
      deadline.check();
      return answer(mayPause);
    }

    boolean answer(boolean mayPause) {
      if (!routes.isVisible(scratch.query, mayPause)) {
        return false;
      }
      routes.answers.answer(form, scratch.query, scratch.reply);
      return true;
    }

    @Override
    void answered(long nanos) {
      routes.meters.answered(form, nanos, scratch.query.count());
    }

    @Override
    Dialect dialect() {
      return scratch.query.dialect();
    }

    @Override
    String model() {
      return scratch.query.model();
    }
  }

  /** A body is a query that is explained, not answered; never waits for events. */
  static final class Explanation extends One {
    Explanation(
        HotRoutes routes, BodyType type, Request request, Deadline deadline, Scratch scratch) {
      super(routes, QueryForm.TOKENS, type, request, deadline, scratch);
    }

    @Override
    boolean answer(boolean mayPause) {
      String address = Request.getLocalAddr(request) + ":" + Request.getLocalPort(request);
      Asked asked = new Asked(address, request.getBeginNanoTime(), System.nanoTime());
      routes.answers.explain(scratch.query, asked, scratch.reply);
      return true;
    }

    /** An explanation is no query: it would be the slowest of them. */
    @Override
    void answered(long nanos) {}
  }

  /** A body is a question of another replica. */
  static final class ReplicaQuestion extends QueryWork {
    private final ReplicaQuestions.Answer answer;
    private final Request request;

    ReplicaQuestion(
        HotRoutes routes,
        ReplicaQuestions.Answer answer,
        Request request,
        Deadline deadline,
        Scratch scratch) {
      super(routes, deadline, scratch);
      this.answer = answer;
      this.request = request;
    }

    @Override
    boolean proceed(boolean mayPause) {
      deadline.check();
      byte[] question = Arrays.copyOf(scratch.body(), scratch.length());
      byte[] bytes = answer.to(question, request.getHttpURI().getQuery());
      if (!routes.pool.mayAnswer(scratch, bytes.length)) {
        throw Replies.busy(ScratchPool.MAX_LARGE_ANSWERS + " answers beyond 1 MiB to replicas");
      }
      scratch.reply.octets(bytes);
      return true;
    }

    @Override
    void answered(long nanos) {
      routes.meters.replicaAnswered(nanos);
    }
  }
}
