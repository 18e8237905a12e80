// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.deadline.Deadline;
import io.kvindex.query.dialect.Dialect;
import java.util.Arrays;

/** A body is a question of another replica. */
final class OneReplicaQuestion implements QueryWork {
  private final HotRoutes routes;
  private final ReplicaQuestions.Answer answer;
  private final Deadline deadline;
  private final Scratch scratch;

  OneReplicaQuestion(
      HotRoutes routes, ReplicaQuestions.Answer answer, Deadline deadline, Scratch scratch) {
    this.routes = routes;
    this.answer = answer;
    this.deadline = deadline;
    this.scratch = scratch;
  }

  @Override
  public boolean proceed(boolean mayPause) {
    deadline.check();
    byte[] bytes = answer.to(Arrays.copyOf(scratch.body(), scratch.length()));
    if (!routes.mayAnswer(scratch, bytes.length)) {
      throw Refusals.busy(ScratchPool.MAX_LARGE_ANSWERS + " answers beyond 1 MiB to replicas");
    }
    scratch.reply.octets(bytes);
    return true;
  }

  @Override
  public boolean mayGoOn() {
    return true;
  }

  @Override
  public void answered(long nanos) {
    routes.meters().replicaAnswered(nanos);
  }

  @Override
  public Dialect dialect() {
    return Dialect.CONDUCTOR;
  }
}
