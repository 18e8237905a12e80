// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.lookup;

import io.kvindex.model.PublisherId;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.view.ContextNames;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/**
 * One table as it can be read here and now. All methods are cheap, never block and may be called by
 * any thread; a view stays readable when the task behind it has gone, it only turns stale.
 */
public interface TableView {
  /** The index to walk; one without any block if nothing was ever stored. */
  PrefixIndex index();

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
   * Adapter names an instance's events have used together with a deprecated adapter id.
   *
   * @param loraId as in the query's {@code lora_id}, not negative
   * @return empty if the id was never seen with a name
   */
  Collection<String> loraNames(String instanceId, long loraId);
}
