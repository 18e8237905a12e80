// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/**
 * Turns the objects of TensorRT-LLM's {@code get_kv_cache_events()} into batches as vLLM sends
 * them, one a rank. Source: TensorRT-LLM, {@code KVCacheEventSerializer}.
 *
 * <p>Only the largest attention window belongs to the prefix index; a block with fewer tokens than
 * the block size is not finished and is left out together with what is said of it later; a change
 * of {@code cache_level} moves a block between the device (0) and the host.
 */
final class TrtllmTranslator {

  /** Unfinished blocks remembered; what is forgotten is removed in vain, nothing worse. */
  private static final int MAX_PARTIAL = 1 << 20;

  private final int blockSize;
  private final int rank;
  private final Map<String, Long> counts;
  private final Map<Long, Boolean> partial =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Boolean> eldest) {
          return size() > MAX_PARTIAL;
        }
      };
  private final MessageBufferPacker packer = MessagePack.newDefaultBufferPacker();
  private long largestWindow = -1;
  private boolean severalLevels;
  private boolean stored;
  private int events;

  /**
   * @param counts what became of events, added to
   */
  TrtllmTranslator(int blockSize, int rank, Map<String, Long> counts) {
    this.blockSize = blockSize;
    this.rank = rank;
    this.counts = counts;
  }

  /** The batch of one object, maybe without any event. */
  byte[] translate(JsonNode object) {
    try {
      packer.clear();
      events = 0;
      if (isOfLargestWindow(object.path("window_size"))) {
        add(object.path("data"));
      } else {
        count("skipped_window");
      }
      return batch();
    } catch (IOException e) {
      throw new UncheckedIOException("a buffer in memory does not fail", e);
    }
  }

  /** The engine began anew. */
  void restart() {
    partial.clear();
    largestWindow = -1;
    severalLevels = false;
    stored = false;
  }

  private boolean isOfLargestWindow(JsonNode window) throws IOException {
    if (!window.canConvertToLong() || !window.isIntegralNumber()) {
      return true; // one that says nothing of windows must not outdo those that do
    }
    long size = window.longValue();
    if (size > largestWindow) {
      if (stored) {
        beginMap(1, "AllBlocksCleared"); // what came before was of a smaller one
        stored = false;
      }
      largestWindow = size;
    }
    return size == largestWindow;
  }

  private void add(JsonNode data) throws IOException {
    switch (data.path("type").asText()) {
      case "stored" -> addStored(data);
      case "removed" -> addRemoved(data.path("block_hashes"));
      case "updated" -> addUpdated(data);
      case "created" -> count("created");
      default -> count("skipped_unknown_type");
    }
  }

  private void addStored(JsonNode data) throws IOException {
    JsonNode parent = data.path("parent_hash");
    List<JsonNode> run = new ArrayList<>();
    for (JsonNode block : data.path("blocks")) {
      if (block.path("tokens").size() != blockSize
          || !block.path("block_hash").isIntegralNumber()) {
        partial.put(block.path("block_hash").bigIntegerValue().longValue(), true);
        count("skipped_partial_block");
        break; // nothing can follow it
      }
      if (!run.isEmpty() && level(run.get(0)) != level(block)) {
        packStored(parent, run);
        parent = run.get(run.size() - 1).path("block_hash");
        run.clear();
      }
      partial.remove(hash(block.path("block_hash")));
      run.add(block);
    }
    if (!run.isEmpty()) {
      packStored(parent, run);
    }
  }

  private void packStored(JsonNode parent, List<JsonNode> blocks) throws IOException {
    boolean extra = blocks.stream().anyMatch(block -> extraKey(block) != 0);
    beginMap(extra ? 9 : 8, "BlockStored");
    packHashes(blocks.stream().map(block -> hash(block.path("block_hash"))).toList());
    packer.packString("parent_block_hash");
    if (parent.isIntegralNumber()) {
      packer.packLong(hash(parent));
    } else {
      packer.packNil();
    }
    packer.packString("token_ids").packArrayHeader(blocks.size() * blockSize);
    for (JsonNode block : blocks) {
      for (JsonNode token : block.path("tokens")) {
        packer.packLong(token.path("token_id").asLong());
      }
    }
    packer.packString("block_size").packInt(blockSize);
    packer.packString("lora_id").packNil();
    packer.packString("lora_name").packNil();
    packMedium(level(blocks.get(0)));
    if (extra) {
      packExtraKeys(blocks);
    }
    stored = true;
    count("stored");
  }

  /** Never a plain string, which would be read as a salt. */
  private void packExtraKeys(List<JsonNode> blocks) throws IOException {
    packer.packString("extra_keys").packArrayHeader(blocks.size());
    for (JsonNode block : blocks) {
      long key = extraKey(block);
      if (key == 0) {
        packer.packNil();
      } else {
        packer.packArrayHeader(1).packArrayHeader(1).packLong(key);
      }
    }
  }

  /** What a block's content depends on besides its tokens, folded; 0 = nothing. */
  private static long extraKey(JsonNode block) {
    long key = block.path("mm_keys").isEmpty() ? 0 : block.path("mm_keys").toString().hashCode();
    for (JsonNode token : block.path("tokens")) {
      key = 31 * key + token.path("token_extra_id").asLong();
    }
    return key;
  }

  private void addRemoved(JsonNode hashes) throws IOException {
    List<Long> known = new ArrayList<>();
    for (JsonNode node : hashes) {
      if (partial.remove(hash(node)) == null) {
        known.add(hash(node));
      } else {
        count("skipped_partial_block");
      }
    }
    if (known.isEmpty()) {
      return;
    }
    packRemoved(known, 0);
    if (severalLevels) {
      packRemoved(known, 1); // removals do not say where the block was
    }
    count("removed");
  }

  private void addUpdated(JsonNode data) throws IOException {
    JsonNode to = data.path("cache_level").path("new_value");
    JsonNode from = data.path("cache_level").path("old_value");
    long block = hash(data.path("block_hash"));
    if (!to.isInt() || !from.isInt() || partial.containsKey(block)) {
      count("updated_without_move");
      return;
    }
    packRemoved(List.of(block), from.asInt());
    beginMap(8, "BlockStored"); // hashes only: what they mean is known
    packHashes(List.of(block));
    packer.packString("parent_block_hash").packNil();
    packer.packString("token_ids").packArrayHeader(0);
    packer.packString("block_size").packInt(0);
    packer.packString("lora_id").packNil();
    packer.packString("lora_name").packNil();
    packMedium(to.asInt());
    count("moved");
  }

  private void packRemoved(List<Long> hashes, int level) throws IOException {
    beginMap(3, "BlockRemoved");
    packHashes(hashes);
    packMedium(level);
  }

  private void beginMap(int members, String type) throws IOException {
    events++;
    packer.packMapHeader(members).packString("type").packString(type);
  }

  private void packHashes(List<Long> hashes) throws IOException {
    packer.packString("block_hashes").packArrayHeader(hashes.size());
    for (long hash : hashes) {
      packer.packLong(hash);
    }
  }

  private void packMedium(int level) throws IOException {
    severalLevels |= level != 0;
    packer.packString("medium").packString(level == 0 ? "GPU" : "CPU");
  }

  private static int level(JsonNode block) {
    return block.path("cache_level").asInt() == 0 ? 0 : 1;
  }

  /** Unsigned in JSON, the same bits here. */
  private static long hash(JsonNode node) {
    BigInteger value = node.bigIntegerValue();
    return value.longValue();
  }

  private byte[] batch() throws IOException {
    try (MessageBufferPacker whole = MessagePack.newDefaultBufferPacker()) {
      whole.packArrayHeader(3).packDouble(System.currentTimeMillis() / 1e3);
      whole.packArrayHeader(events).addPayload(packer.toByteArray());
      whole.packInt(rank);
      return whole.toByteArray();
    }
  }

  private void count(String outcome) {
    counts.merge(outcome, 1L, Long::sum);
  }

  /** A place for counts that prints in a fixed order. */
  static Map<String, Long> newCounts() {
    return new TreeMap<>();
  }

  /** Rank of an object, 0 where it has none. */
  static int rankOf(JsonNode object) {
    @Nullable JsonNode rank = object.get("attention_dp_rank");
    return rank != null && rank.isInt() && rank.asInt() >= 0 ? rank.asInt() : 0;
  }
}
