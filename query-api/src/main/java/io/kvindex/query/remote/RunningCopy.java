// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.event.RecordWriter;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Finds out whether a copy of the tables is kept by a process already. */
public final class RunningCopy {

  private static final long ANSWER_NANOS = TimeUnit.SECONDS.toNanos(2);

  private RunningCopy() {}

  /**
   * Asks each address; waits for 2 s each at most.
   *
   * @param addresses where the copy was last, {@code host:port}
   * @return which of them is a process that keeps that copy; null = none says so
   */
  public static @Nullable String at(List<String> addresses, String copy)
      throws InterruptedException {
    if (addresses.isEmpty()) {
      return null;
    }
    try (ReplicaClient client = new ReplicaClient()) {
      for (String address : addresses) {
        if (copy.equals(copyAt(client, address))) {
          return address;
        }
      }
      return null;
    }
  }

  private static @Nullable String copyAt(ReplicaClient client, String address)
      throws InterruptedException {
    RecordWriter question = new RecordWriter(8);
    question.writeByte(WalkRequest.VERSION);
    question.writeVarint(0);
    CompletableFuture<String> answer = new CompletableFuture<>();
    client.ask(
        address,
        ReplicaService.STATUS,
        question.toByteArray(),
        ANSWER_NANOS,
        (body, problem) -> {
          try {
            answer.complete(body == null ? "" : ReplicaStatus.decode(body).copy());
          } catch (MalformedRecordException | IllegalArgumentException e) {
            answer.complete(""); // something else listens there
          }
        });
    try {
      return answer.get(ANSWER_NANOS, TimeUnit.NANOSECONDS);
    } catch (ExecutionException | TimeoutException e) {
      return null;
    }
  }
}
