// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.site;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.TopicPartition;

/** Both copies of the site's record in memory, to which others write before and behind one. */
final class SharedCopies implements SiteCopies {

  private final Map<TopicPartition, SiteContent.Copy> copies = new HashMap<>();
  private List<SiteRecord> before = List.of();
  private List<SiteRecord> behind = List.of();
  private int writes;
  private int readableWrites = Integer.MAX_VALUE;

  static SiteRecord serving(long number, String application) {
    return new SiteRecord(0, Map.of(), new Serving(number, application));
  }

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

  /** Others come directly after the next write. */
  void behind(SiteRecord... records) {
    behind = List.of(records);
  }

  /** Nothing can be read any more behind the next write. */
  void silent() {
    readableWrites = writes;
  }

  int writes() {
    return writes;
  }

  @Override
  public SiteContent read() throws TimeoutException {
    if (writes > readableWrites) {
      throw new TimeoutException("silent");
    }
    return SiteContent.of(copies, Map.of());
  }

  @Override
  public void write(SiteRecord record) {
    writes++;
    before.forEach(this::say);
    say(record);
    behind.forEach(this::say);
    before = List.of();
    behind = List.of();
  }
}
