// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.site;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/** Both copies of the site's record in memory, to which others write before one does. */
final class SharedCopies extends SiteCopies {

  private final Map<TopicPartition, SiteContent.Copy> copies = new HashMap<>();
  private List<SiteRecord> before = List.of();
  private int writes;

  /** It is in one copy, as its last record. */
  SharedCopies say(TopicPartition copy, SiteRecord record) {
    copies.computeIfAbsent(copy, place -> new SiteContent.Copy()).take(record);
    return this;
  }

  /** It is in both. */
  SharedCopies say(SiteRecord record) {
    SiteLog.COPIES.forEach(copy -> say(copy, record));
    return this;
  }

  /** Others are faster than the next write. */
  void before(SiteRecord... records) {
    before = List.of(records);
  }

  int writes() {
    return writes;
  }

  @Override
  public SiteContent read() {
    return SiteContent.of(copies, Map.of());
  }

  @Override
  public void write(SiteRecord record) {
    writes++;
    before.forEach(this::say);
    say(record);
    before = List.of();
  }
}
