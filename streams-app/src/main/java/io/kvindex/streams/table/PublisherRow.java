// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;

/**
 * {@code P}: a publisher and its current life.
 *
 * @param publisher who
 * @param life its newest life; its {@code clears} counts the clears seen in that life
 * @param groups bit per attention group seen in stores of this life, or per object its blocks are
 *     made of
 * @param device whether it has announced a block of the device tier in this life, so that what its
 *     blocks mean is to be learned from the device alone
 */
public record PublisherRow(PublisherId publisher, Incarnation life, long groups, boolean device) {

  /** Attention groups told apart; blocks of higher ones are not indexed. */
  public static final int MAX_GROUPS = Long.SIZE;

  /** A publisher in a life of which nothing is known yet. */
  public static PublisherRow first(PublisherId publisher, Incarnation life) {
    return new PublisherRow(publisher, begun(life), 0, false);
  }

  /** The same publisher in a new life that began with blocks of the former one. */
  public PublisherRow outlived(Incarnation newLife) {
    return new PublisherRow(publisher, begun(newLife), groups, device);
  }

  private static Incarnation begun(Incarnation life) {
    return new Incarnation(life.generation(), life.life(), 0);
  }

  /** The same life after one more clear. */
  public PublisherRow cleared() {
    return new PublisherRow(publisher, life.cleared(), groups, device);
  }

  /**
   * The same life with more groups seen.
   *
   * @param more bit per group
   */
  public PublisherRow withGroups(long more) {
    return new PublisherRow(publisher, life, groups | more, device);
  }

  /** The same life after its first block of the device tier. */
  public PublisherRow withDevice() {
    return new PublisherRow(publisher, life, groups, true);
  }

  byte[] encode() {
    RecordWriter out = Rows.writer(48);
    out.writeString(publisher.instanceId());
    out.writeString(publisher.tenantId());
    out.writeVarint(publisher.dpRank());
    EventRecordCodec.writeIncarnation(out, life);
    out.writeVarint(groups);
    out.writeByte(device ? 1 : 0);
    return out.toByteArray();
  }

  static PublisherRow decode(byte[] value) {
    RecordReader in = Rows.reader(value);
    PublisherId publisher =
        new PublisherId(in.readRequiredString(), in.readRequiredString(), in.readInt());
    Incarnation life = Rows.readIncarnation(in);
    long groups = in.readVarint();
    return new PublisherRow(publisher, life, groups, !in.atEnd() && in.readByte() != 0);
  }
}
