// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.site;

import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * What the topics say of the site.
 *
 * @param newest the record of the highest epoch in either, null = there is none
 * @param copies in how many topics it is the last one of the site
 * @param records records ever written, by topic
 */
record SiteContent(@Nullable SiteRecord newest, int copies, Map<String, Long> records) {

  /**
   * One topic's records of the site, as they come. The last need not be the newest: who wrote it
   * may have read before the newer one was there.
   */
  static final class Copy {
    private @Nullable SiteRecord newest;
    private @Nullable SiteRecord last;

    /** Of two of the same epoch the later one is newer. */
    void take(SiteRecord record) {
      if (newest == null || !newest.isNewerThan(record)) {
        newest = record;
      }
      last = record;
    }
  }

  /**
   * Compares the copies.
   *
   * @param found those that have a record
   */
  static SiteContent of(Map<TopicPartition, Copy> found, Map<String, Long> records) {
    SiteRecord newest = newest(found);
    long copies = found.values().stream().filter(one -> Objects.equals(one.last, newest)).count();
    return new SiteContent(newest, (int) copies, records);
  }

  /** Of two of the same epoch that in the first topic, for all who read them. */
  private static @Nullable SiteRecord newest(Map<TopicPartition, Copy> found) {
    SiteRecord newest = null;
    for (TopicPartition place : SiteLog.COPIES) {
      Copy copy = found.get(place);
      SiteRecord one = copy == null ? null : copy.newest;
      if (one != null && (newest == null || one.isNewerThan(newest))) {
        newest = one;
      }
    }
    return newest;
  }

  boolean isComplete() {
    return copies == SiteLog.COPIES.size();
  }

  boolean wasWritten(String topic) {
    return records.getOrDefault(topic, 0L) > 0;
  }
}
