// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.streams.Holders;
import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.PartitionProgress;
import io.kvindex.streams.view.PartitionView;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A table as its replicas are told of it by one that will leave: it answers what it is asked, but
 * nobody may rely on its being there.
 */
record LeavingTable(IndexPartitions table) implements IndexPartitions {

  @Override
  public String notReadyReason() {
    return "a rebuild: it leaves when the replicas hold its partitions";
  }

  @Override
  public int partitions() {
    return table.partitions();
  }

  @Override
  public @Nullable PartitionView view(int partition) {
    return table.view(partition);
  }

  @Override
  public boolean keepsUp(int partition) {
    return table.keepsUp(partition);
  }

  @Override
  public long ageMs(int partition) {
    return table.ageMs(partition);
  }

  @Override
  public PartitionProgress progress(int partition) {
    return table.progress(partition);
  }

  @Override
  public @Nullable String notReadyReason(int partition) {
    return table.notReadyReason(partition);
  }

  @Override
  public List<String> otherReplicas() {
    return table.otherReplicas();
  }

  @Override
  public @Nullable String address() {
    return table.address();
  }

  @Override
  public String cluster() {
    return table.cluster();
  }

  @Override
  public long recordsBehind(int partition) {
    return table.recordsBehind(partition);
  }

  @Override
  public Holders allHolders(int partition) {
    return table.allHolders(partition);
  }

  @Override
  public Holders holders(int partition) {
    return table.holders(partition);
  }
}
