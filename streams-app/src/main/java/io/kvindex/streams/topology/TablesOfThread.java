// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.topology;

import io.kvindex.streams.store.CommittedRows;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/**
 * The tables a stream thread writes, all of them in one transaction. One per stream thread, of
 * which alone it is used.
 */
public final class TablesOfThread {

  private static final ThreadLocal<TablesOfThread> OF_THREAD =
      ThreadLocal.withInitial(TablesOfThread::new);

  /** Whose rows were saved last comes last. */
  private final Map<Integer, CommittedRows> tables = new LinkedHashMap<>();

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
    Map<Integer, Map.Entry<TopicPartition, Long>> written = new HashMap<>();
    last.entrySet().forEach(one -> written.put(one.getKey().partition(), one));
    for (Map.Entry<Integer, CommittedRows> table : tables.entrySet()) {
      int partition = table.getKey();
      CommittedRows rows = table.getValue();
      Map.Entry<TopicPartition, Long> to = written.get(partition);
      if (to != null && rows.committed(to.getKey(), to.getValue())) {
        tables.remove(partition);
        tables.put(partition, rows);
        return;
      }
    }
  }
}
