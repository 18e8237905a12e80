// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.TableId;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.TableView;
import io.kvindex.streams.PartitionProgress;
import io.kvindex.streams.PartitionProgress.Phase;
import java.net.ConnectException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Those that are not silent tell of themselves. */
final class StandInReplicas implements Transport {
  Set<String> silent = Set.of();
  Set<String> loading = Set.of();
  Set<String> behind = Set.of();
  Set<String> refusing = Set.of();
  Set<String> closed = Set.of();

  /** First offset each one's table was folded from; 0 where nothing is said. */
  Map<String, Long> since = Map.of();

  volatile boolean answersWalks = true;
  @Nullable Transport walks;
  Runnable beforeWalk = () -> {};

  /** What all of them answer from now on. */
  void answerOf(TableView copy) {
    IndexAccess tables =
        new Relayed.NoTables() {
          @Override
          public TableView view(TableId table) {
            return copy;
          }
        };
    walks = new Relayed.Loop(new ReplicaService(tables, new Relayed.Placed(""), Relayed.ID));
  }

  @Override
  public void ask(String address, String path, byte[] body, long forNanos, Reply reply) {
    if (path.equals(ReplicaService.WALK)) {
      beforeWalk.run();
    }
    if (refusing.contains(address)) {
      reply.told(null, new ReplicaClient.RefusedException("it answered 503"));
      return;
    }
    if (closed.contains(address)) {
      reply.told(null, new ConnectException("Connection refused"));
      return;
    }
    if (walks != null && !silent.contains(address) && path.equals(ReplicaService.WALK)) {
      walks.ask(address, path, body, forNanos, reply);
      return;
    }
    if (!silent.contains(address) && (answersWalks || !path.equals(ReplicaService.WALK))) {
      Phase phase = Phase.READY;
      if (loading.contains(address)) {
        phase = Phase.LOADING;
      } else if (behind.contains(address)) {
        phase = Phase.CATCHING_UP;
      }
      ReplicaStatus.Part part =
          new ReplicaStatus.Part(
              0, new PartitionProgress(phase, 0, 0, 0), 0, 0, since.getOrDefault(address, 0L));
      ReplicaStatus status = new ReplicaStatus(address, "0.1.0", null, List.of(part), Map.of());
      reply.told(PlainMessage.encode(status), null);
    }
  }
}
