// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.PublisherId;
import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.lookup.Trust;
import java.util.Comparator;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * How far to trust what a replica says: byte {@link Trust}, varint lag in ms, varint degraded
 * publishers and their keys.
 *
 * @param lagMs age of the oldest event that is not in it, in ms, 0 = none
 * @param degraded publishers events were lost of; the same object for answers from the same view
 */
record Told(Trust trust, long lagMs, Set<PublisherId> degraded) {

  Told {
    Objects.requireNonNull(trust);
    Objects.requireNonNull(degraded);
  }

  /** Trust does not count: a copy that is seconds old is worth more than one of a minute ago. */
  static final Comparator<Told> FRESHEST_FIRST = Comparator.comparingLong(Told::lagMs);

  static Told of(TableView view) {
    return new Told(view.trust(), view.lagMs(), view.degradedPublishers());
  }

  /** The worse of both, as the later one sees it. */
  Told after(Told before) {
    return new Told(trust.and(before.trust), Math.max(lagMs, before.lagMs), degraded);
  }

  /** The same, trusted no further than that. */
  Told and(Trust most) {
    return new Told(trust.and(most), lagMs, degraded);
  }

  void write(RecordWriter out) {
    out.writeByte(trust.ordinal());
    out.writeVarint(lagMs);
    out.writeVarint(degraded.size());
    degraded.forEach(publisher -> out.writeString(publisher.key()));
  }

  static Told read(RecordReader in) {
    Trust trust = in.readEnum(Trust.values());
    long lagMs = in.readVarint();
    Set<PublisherId> degraded = new TreeSet<>();
    for (int left = in.readCount(); left > 0; left--) {
      degraded.add(PublisherId.parse(in.readRequiredString()));
    }
    return new Told(trust, lagMs, degraded.isEmpty() ? Set.of() : degraded);
  }
}
