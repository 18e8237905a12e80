// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.lookup;

import io.kvindex.model.PublisherId;
import io.kvindex.query.deadline.Deadline;
import io.kvindex.streams.index.BlockKeys;
import io.kvindex.streams.index.PrefixReader;
import io.kvindex.streams.index.RunVisitor;
import io.kvindex.streams.view.ContextNames;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One table as it can be read now, for one query. Where the table is in another replica, that one
 * is asked by {@link #walk}, {@link #contexts}, {@link #loraNames} and {@link #blockCount}, each
 * within the query's deadline and a bound of its own; they throw an {@link
 * io.kvindex.query.error.ApiException} (503) where nobody answers in time. How far to trust the
 * answer is known after the last of these calls.
 */
public interface TableView {
  /** {@link #within} of what any state of the table will do for. */
  long ANY_OFFSET = -1;

  /**
   * Walks a prompt until the first block no live owner holds.
   *
   * @param reader of this thread
   * @param keys the rolling hashes
   * @param xors what to xor into them, one for each context; not copied
   * @return number of blocks walked
   */
  int walk(PrefixReader reader, BlockKeys keys, long[] xors, RunVisitor visitor);

  /**
   * The same for one query.
   *
   * @param deadline when the answer is of no use any more
   * @param notBefore offset of the events topic that must be visible, {@link #ANY_OFFSET} = none
   * @throws io.kvindex.query.error.ApiException (503) if it is seen here that it is not
   */
  default TableView within(Deadline deadline, long notBefore) {
    return this;
  }

  /** Blocks that queries can find. */
  long blockCount();

  Trust trust();

  /** Age of the oldest event read from an engine and not visible here yet, in ms, 0 if none. */
  long lagMs();

  /**
   * Publishers events were lost of, those of other tables too; empty if there are none. The same
   * object until it changes.
   */
  Set<PublisherId> degradedPublishers();

  /**
   * Contexts blocks of the table were announced in, also those nobody holds blocks of any more;
   * bounded, in no order.
   */
  default Collection<ContextNames> contexts() {
    return List.of();
  }

  /**
   * What instances' events called the adapter of a deprecated id.
   *
   * @param loraId as in the query's {@code lora_id}, not negative
   * @return by instance; those of which it was never seen with a name are missing
   */
  default Map<String, String> loraNames(long loraId, Collection<String> instances) {
    return Map.of();
  }

  /** {@code host:port} of the replica that answered, null = this one. */
  default @Nullable String answeredBy() {
    return null;
  }
}
