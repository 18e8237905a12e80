// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.digest;

import io.kvindex.model.TableId;
import io.kvindex.query.reply.JsonBuffer;
import io.kvindex.streams.view.HeldBlock;
import io.kvindex.streams.view.OwnerDigest;
import io.kvindex.streams.view.OwnerIdentity;
import io.kvindex.streams.view.PartitionDigest;
import io.kvindex.streams.view.PartitionView;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The answers of {@link DigestRoutes}. Hashes are unsigned numbers, as everywhere in the API; sums
 * are 16 hex digits. For one thread.
 */
final class DigestsJson {

  private static final HexFormat HEX = HexFormat.of();

  private final JsonBuffer out = new JsonBuffer();
  private boolean first = true;

  /**
   * @param copy whose they are, empty = it has no name
   */
  DigestsJson(String copy) {
    out.raw('{').name("copy").string(copy).raw(',').name("partitions").raw('[');
  }

  /** Adds a partition that was read. */
  void partition(PartitionView view, PartitionDigest digest) {
    begin(view);
    out.raw(',').name("since").number(digest.since());
    out.raw(',').name("applied_offset").number(digest.appliedOffset());
    out.raw(',').name("streams").number(digest.streams());
    out.raw(',').name("held_back").number(digest.held());
    hex(out, "positions", digest.positions());
    out.raw(',').name("owners").raw('[');
    boolean firstOwner = true;
    for (OwnerDigest owner : inOrder(digest.owners())) {
      if (!firstOwner) {
        out.raw(',');
      }
      firstOwner = false;
      owner(owner);
    }
    out.raw(']').raw('}');
  }

  /** Adds one that could not be. */
  void unreadable(PartitionView view, String problem) {
    begin(view);
    out.raw(',').name("error").string(problem).raw('}');
  }

  private void begin(PartitionView view) {
    if (!first) {
      out.raw(',');
    }
    first = false;
    out.raw('{').name("partition").number(view.partition());
    out.raw(',').name("state").string(view.isClosed() ? "closed" : "live");
  }

  private static List<OwnerDigest> inOrder(List<OwnerDigest> owners) {
    Comparator<OwnerDigest> byPublisher =
        Comparator.comparing(digest -> digest.owner().publisher());
    return owners.stream().sorted(byPublisher.thenComparing(one -> one.owner().id())).toList();
  }

  private void owner(OwnerDigest digest) {
    OwnerIdentity owner = digest.owner();
    TableId table = owner.table();
    out.raw('{').name("id").string(owner.id());
    out.raw(',').name("tenant_id").string(table.tenantId());
    out.raw(',').name("model").string(table.model());
    out.raw(',').name("block_size").number(table.blockSize());
    out.raw(',').name("hash_profile").string(table.hashProfile().label());
    out.raw(',').name("instance_id").string(owner.publisher().instanceId());
    out.raw(',').name("dp_rank").number(owner.publisher().dpRank());
    out.raw(',').name("rank").number(owner.rank());
    text("medium", owner.medium());
    text("backend_id", owner.backendId());
    bool(out, "pool", owner.pool());
    out.raw(',').name("generation").number(owner.generation());
    out.raw(',').name("life").number(owner.life());
    if (owner.expiresAtMs() != 0) {
      out.raw(',').name("expires_at_ms").number(owner.expiresAtMs());
    }
    out.raw(',').name("blocks").number(digest.blocks());
    out.raw(',').name("waiting").number(digest.waiting());
    hex(out, "digest", digest.sum());
    out.raw('}');
  }

  private void text(String name, @Nullable String value) {
    if (value != null) {
      out.raw(',').name(name).string(value);
    }
  }

  private static void hex(JsonBuffer out, String name, long value) {
    out.raw(',').name(name).string(HEX.toHexDigits(value));
  }

  private static void bool(JsonBuffer out, String name, boolean value) {
    out.raw(',').name(name).raw(String.valueOf(value).getBytes(StandardCharsets.US_ASCII));
  }

  /** The whole answer. */
  JsonBuffer done() {
    return out.raw(']').raw('}');
  }

  /**
   * What an owner holds.
   *
   * @param more whether there may be blocks beyond the last one
   */
  static JsonBuffer blocks(String owner, List<HeldBlock> blocks, boolean more) {
    JsonBuffer out = new JsonBuffer().raw('{').name("owner").string(owner);
    bool(out, "more", more);
    out.raw(',').name("blocks").raw('[');
    for (int i = 0; i < blocks.size(); i++) {
      HeldBlock block = blocks.get(i);
      if (i > 0) {
        out.raw(',');
      }
      out.raw('{').name("engine_hash").unsigned(block.engineHash());
      out.raw(',').name("group").number(block.group());
      out.raw(',').name("copies").number(block.copies());
      if (block.resolved()) {
        out.raw(',').name("key").unsigned(block.lookupKey());
      }
      out.raw('}');
    }
    return out.raw(']').raw('}');
  }
}
