// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.query.remote.ReplicaClient.RefusedException;
import java.net.ConnectException;
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
   * Asks each address; waits for 2 s each at most. One that is silent may be starved.
   *
   * @param addresses where the copy was last, {@code host:port}
   * @return which of them is a process that keeps that copy, or says nothing; null = nobody listens
   *     there, or somebody else does
   */
  public static @Nullable String at(List<String> addresses, String copy)
      throws InterruptedException {
    if (addresses.isEmpty()) {
      return null;
    }
    try (ReplicaClient client = new ReplicaClient()) {
      for (String address : addresses) {
        if (copy.equals(copyAt(client, address, copy))) {
          return address;
        }
      }
      return null;
    }
  }

  private static String copyAt(ReplicaClient client, String address, String copy)
      throws InterruptedException {
    CompletableFuture<String> answer = new CompletableFuture<>();
    client.ask(
        address,
        ReplicaService.STATUS,
        PlainMessage.encode(List.of()),
        ANSWER_NANOS,
        (body, problem) -> {
          if (body == null) {
            boolean isElse =
                problem instanceof ConnectException || problem instanceof RefusedException;
            answer.complete(isElse ? "" : copy);
            return;
          }
          try {
            answer.complete(PlainMessage.decode(body, ReplicaStatus.class).copy());
          } catch (MalformedRecordException e) {
            answer.complete(""); // something else listens there
          }
        });
    try {
      return answer.get(ANSWER_NANOS, TimeUnit.NANOSECONDS);
    } catch (ExecutionException | TimeoutException e) {
      return copy;
    }
  }
}
