// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.row.BlockRow;
import io.kvindex.streams.row.OwnerRow;
import io.kvindex.streams.row.PublisherRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.SpaceRow;
import io.kvindex.streams.row.TableRow;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a block made of 64 objects costs. */
class ResidencyTest {

  private static final int SHARDS = 64;
  private static final long HASH = 5;
  private static final BlockRow ROW = new BlockRow(1, 1, true, 77);
  private static final Incarnation LIFE = new Incarnation(1, 1, 0);

  private final CountedRows rows = new CountedRows();
  private final Publishers publishers = new Publishers();
  private final Tables tables = new Tables(new Epochs());
  private final Residency residency = new Residency(rows, publishers, tables);
  private final OwnerState owner = cutInShards();

  private static final class CountedRows implements Residency.Rows {
    private final Map<Bytes, byte[]> rows = new HashMap<>();
    private int reads;

    @Override
    public byte @Nullable [] get(Bytes key) {
      reads++;
      return rows.get(key);
    }

    @Override
    public KeyValueIterator<Bytes, byte[]> range(Bytes from, Bytes to) {
      throw new AssertionError("scanned");
    }
  }

  private OwnerState cutInShards() {
    tables.foldTable(1, new TableRow(new TableId("default", "m", 16, HashProfile.XXH3_DEFAULT)));
    tables.foldSpace(1, new SpaceRow(1, null, SpaceRow.SHARED));
    publishers.fold(1, new PublisherRow(new PublisherId("p", "default", 0), LIFE, -1L, false));
    PrefixIndex index = new PrefixIndex();
    int slot = index.addOwner(new Owner("default", "p", 0, 0, "CPU", true, null, LIFE));
    OwnerRow row = new OwnerRow(1, 1, 0, "CPU", null, true, LIFE, false, OwnerRow.NEVER, false);
    return new OwnerState(1, row, index, slot);
  }

  private void write(int shard) {
    rows.rows.put(RowKeys.block(owner.id(), HASH, shard), ROW.encode());
  }

  private void fold(int shard) {
    residency.fold(owner, HASH, shard, null, ROW);
  }

  @Test
  void shouldReadOnceAShard_whenShardsComeInAscendingOrder() {
    for (int shard = 0; shard < SHARDS; shard++) {
      assertThat(owner.holds(ROW.lookupKey())).isFalse();
      write(shard);
      fold(shard);
    }
    assertThat(owner.holds(ROW.lookupKey())).isTrue();
    assertThat(rows.reads).as("one until the last, which looks for all").isLessThan(2 * SHARDS);
  }

  @Test
  void shouldReadOnceAShard_whenAllComeTogether() {
    for (int shard = 0; shard < SHARDS; shard++) {
      write(shard);
    }
    for (int shard = 0; shard < SHARDS; shard++) {
      fold(shard);
    }
    assertThat(owner.holds(ROW.lookupKey())).isTrue();
    assertThat(rows.reads).isLessThan(SHARDS);
  }
}
