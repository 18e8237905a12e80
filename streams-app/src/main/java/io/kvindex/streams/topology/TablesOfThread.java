// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.topology;

import io.kvindex.streams.store.CommittedRows;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/**
 * The tables a stream thread writes, all of them in one transaction. One per stream thread, of
 * which alone it is used.
 */
public final class TablesOfThread {

  private static final ThreadLocal<TablesOfThread> OF_THREAD =
      ThreadLocal.withInitial(TablesOfThread::new);

  private final Map<Integer, CommittedRows> tables = new HashMap<>();

  private TablesOfThread() {}

  /** Those of the calling thread. */
  public static TablesOfThread current() {
    return OF_THREAD.get();
  }

  /** From now on a partition's rows are written by this thread. */
  public void begins(int partition, CommittedRows rows) {
    tables.put(partition, rows);
  }

  /** They are no more. */
  public void ends(int partition) {
    tables.remove(partition);
  }

  /**
   * All that was written is committed. One table at most is saved at a time, as nothing is applied
   * meanwhile: the next commit is soon enough for the others.
   *
   * @param last offset of the last row of each changelog that was written to
   */
  public void committed(Map<TopicPartition, Long> last) {
    for (Map.Entry<TopicPartition, Long> written : last.entrySet()) {
      CommittedRows rows = tables.get(written.getKey().partition());
      if (rows != null && rows.committed(written.getKey(), written.getValue())) {
        return;
      }
    }
  }
}
