// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.row;

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

  /** The same publisher in a new life of which nothing is known yet. */
  public PublisherRow reborn(Incarnation newLife) {
    Incarnation begun = new Incarnation(newLife.generation(), newLife.life(), 0);
    return new PublisherRow(publisher, begun, 0, false);
  }

  /** The same publisher in a new life that began with blocks of the former one. */
  public PublisherRow outlived(Incarnation newLife) {
    return new PublisherRow(publisher, reborn(newLife).life(), groups, device);
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

  /** Whether a block needs several rows to be there. */
  public boolean hasSeveralGroups() {
    return Long.bitCount(groups) > 1;
  }

  /** The bytes to store. */
  public byte[] encode() {
    RecordWriter out = RowValue.writer(48);
    out.writeString(publisher.instanceId());
    out.writeString(publisher.tenantId());
    out.writeVarint(publisher.dpRank());
    EventRecordCodec.writeIncarnation(out, life);
    out.writeVarint(groups);
    out.writeByte(device ? 1 : 0);
    return out.toByteArray();
  }

  /** Reads {@link #encode} back. */
  public static PublisherRow decode(byte[] value) {
    RecordReader in = RowValue.reader(value);
    PublisherId publisher =
        new PublisherId(in.readRequiredString(), in.readRequiredString(), in.readInt());
    Incarnation life = RowValue.readIncarnation(in);
    long groups = in.readVarint();
    return new PublisherRow(publisher, life, groups, !in.atEnd() && in.readByte() != 0);
  }
}
