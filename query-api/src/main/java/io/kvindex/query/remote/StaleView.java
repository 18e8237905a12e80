// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.PublisherId;
import io.kvindex.query.deadline.Deadline;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.lookup.Trust;
import io.kvindex.streams.index.BlockKeys;
import io.kvindex.streams.index.PrefixReader;
import io.kvindex.streams.index.RunVisitor;
import io.kvindex.streams.view.ContextNames;
import java.util.Collection;
import java.util.Map;
import java.util.Set;

/** A table that keeps up with the log and lacks what others know, so is not exact. */
record StaleView(TableView table) implements TableView {

  @Override
  public int walk(PrefixReader reader, BlockKeys keys, long[] xors, RunVisitor visitor) {
    return table.walk(reader, keys, xors, visitor);
  }

  @Override
  public TableView within(Deadline deadline, long notBefore) {
    return new StaleView(table.within(deadline, notBefore));
  }

  @Override
  public long blockCount() {
    return table.blockCount();
  }

  @Override
  public Trust trust() {
    return Trust.STALE;
  }

  @Override
  public long lagMs() {
    return table.lagMs();
  }

  @Override
  public Set<PublisherId> degradedPublishers() {
    return table.degradedPublishers();
  }

  @Override
  public Collection<ContextNames> contexts() {
    return table.contexts();
  }

  @Override
  public Map<String, String> loraNames(long loraId, Collection<String> instances) {
    return table.loraNames(loraId, instances);
  }
}
