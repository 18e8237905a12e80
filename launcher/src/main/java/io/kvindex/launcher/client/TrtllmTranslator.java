// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/**
 * Turns the objects of TensorRT-LLM's {@code get_kv_cache_events()} into batches as vLLM sends
 * them, one a rank. Source: TensorRT-LLM, {@code KVCacheEventSerializer}.
 *
 * <p>Only one layer group belongs to the prefix index ({@link TrtllmGroups}); a block with fewer
 * tokens than the block size is not finished and is left out together with what is said of it
 * later; a change of {@code cache_level} moves a block between the device (0) and the host.
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
  private final TrtllmGroups groups = new TrtllmGroups();
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

  /**
   * The batch of one object, maybe without any event.
   *
   * @throws UnreadableEvent if it says something of its blocks that cannot be read
   */
  byte[] translate(JsonNode object) throws UnreadableEvent {
    try {
      packer.clear();
      events = 0;
      add(object);
      return batch();
    } catch (IOException e) {
      throw new UncheckedIOException("a buffer in memory does not fail", e);
    }
  }

  /** The engine began anew. */
  void restart() {
    partial.clear();
    groups.forget();
    severalLevels = false;
    stored = false;
  }

  private boolean isIndexed(JsonNode window, @Nullable Integer group) throws IOException {
    switch (groups.judge(window, group)) {
      case INDEXED_ANEW -> {
        if (stored) {
          beginMap(1, "AllBlocksCleared");
          stored = false;
        }
        return true;
      }
      case SMALLER_WINDOW -> count("skipped_window");
      case OTHER_GROUP -> count("skipped_layer_group");
      case INDEXED -> {
        return true;
      }
    }
    return false;
  }

  private void add(JsonNode object) throws IOException, UnreadableEvent {
    JsonNode data = object.path("data");
    if (data.path("type").asText().equals("stored")) {
      addStored(object, data);
    } else if (concerns(object, data)) {
      switch (data.path("type").asText()) {
        case "removed" -> addRemoved(data.path("block_hashes"));
        case "updated" -> addUpdated(data);
        case "created" -> count("created");
        default -> count("skipped_unknown_type");
      }
    }
  }

  private boolean concerns(JsonNode object, JsonNode data) throws IOException, UnreadableEvent {
    Integer group = TrtllmBlock.group(data, object, object);
    JsonNode window = object.path("window_size");
    boolean ofAny = group == null && groups.areNumbered() && !groups.isSmaller(window);
    return ofAny && data.path("type").asText().equals("removed") || isIndexed(window, group);
  }

  /** A block may state its group by itself, so each is asked for it. */
  private void addStored(JsonNode object, JsonNode data) throws IOException, UnreadableEvent {
    JsonNode parentNode = data.path("parent_hash");
    Long parent =
        parentNode.isNull() || parentNode.isMissingNode()
            ? null
            : Long.valueOf(TrtllmBlock.hashOf(parentNode, "parent_hash"));
    List<TrtllmBlock> run = new ArrayList<>();
    TrtllmBlock before = null;
    Integer judged = null;
    Boolean indexed = null;
    for (JsonNode node : data.path("blocks")) {
      long hash = TrtllmBlock.hashOf(node.path("block_hash"), "block_hash");
      Integer group = TrtllmBlock.group(node, data, object);
      if (indexed == null || !Objects.equals(group, judged)) {
        parent = pack(parent, run);
        judged = group;
        indexed = isIndexed(object.path("window_size"), group);
      }
      if (!indexed) {
        parent = hash;
        continue;
      }
      if (node.path("tokens").size() != blockSize) {
        partial.put(hash, true);
        count("skipped_partial_block");
        break; // nothing can follow it
      }
      TrtllmBlock block = TrtllmBlock.read(node, data);
      block = before == null ? block : block.below(before);
      before = block;
      if (!run.isEmpty() && !block.goesWith(run.get(0))) {
        parent = pack(parent, run);
      }
      partial.remove(hash);
      run.add(block);
    }
    pack(parent, run);
  }

  /** Packs the blocks so far; what the next one's parent is. */
  private @Nullable Long pack(@Nullable Long parent, List<TrtllmBlock> run) throws IOException {
    if (run.isEmpty()) {
      return parent;
    }
    packStored(parent, run);
    long last = run.get(run.size() - 1).hash();
    run.clear();
    return last;
  }

  private void packStored(@Nullable Long parent, List<TrtllmBlock> blocks) throws IOException {
    TrtllmBlock first = blocks.get(0);
    boolean extra = blocks.stream().anyMatch(block -> block.extraKey() != 0);
    beginMap(8 + (extra ? 1 : 0) + (first.salt() == null ? 0 : 1), "BlockStored");
    packHashes(blocks.stream().map(TrtllmBlock::hash).toList());
    packer.packString("parent_block_hash");
    packNumber(parent);
    packer.packString("token_ids").packArrayHeader(blocks.size() * blockSize);
    for (TrtllmBlock block : blocks) {
      for (long token : block.tokens()) {
        packer.packLong(token);
      }
    }
    packer.packString("block_size").packInt(blockSize);
    packer.packString("lora_id");
    packNumber(first.loraId());
    packer.packString("lora_name");
    if (first.loraName() == null) {
      packer.packNil();
    } else {
      packer.packString(first.loraName());
    }
    packMedium(first.level());
    if (first.salt() != null) {
      packer.packString("cache_salt").packString(first.salt());
    }
    if (extra) {
      packExtraKeys(blocks);
    }
    stored = true;
    count("stored");
  }

  private void packNumber(@Nullable Long number) throws IOException {
    if (number == null) {
      packer.packNil();
    } else {
      packer.packLong(number);
    }
  }

  /** Never a plain string, which would be read as a salt. */
  private void packExtraKeys(List<TrtllmBlock> blocks) throws IOException {
    packer.packString("extra_keys").packArrayHeader(blocks.size());
    for (TrtllmBlock block : blocks) {
      if (block.extraKey() == 0) {
        packer.packNil();
      } else {
        packer.packArrayHeader(1).packArrayHeader(1).packLong(block.extraKey());
      }
    }
  }

  private void addRemoved(JsonNode hashes) throws IOException, UnreadableEvent {
    List<Long> known = new ArrayList<>();
    for (JsonNode node : hashes) {
      long hash = TrtllmBlock.hashOf(node, "block_hashes");
      if (partial.remove(hash) == null) {
        known.add(hash);
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

  private void addUpdated(JsonNode data) throws IOException, UnreadableEvent {
    JsonNode to = data.path("cache_level").path("new_value");
    JsonNode from = data.path("cache_level").path("old_value");
    long block = TrtllmBlock.hashOf(data.path("block_hash"), "block_hash");
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
