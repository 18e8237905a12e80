// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import io.kvindex.model.hash.PromptHasher;
import io.kvindex.sandbox.engine.EngineEvent.Block;
import io.kvindex.sandbox.engine.EngineEvent.Cleared;
import io.kvindex.sandbox.engine.EngineEvent.Origin;
import io.kvindex.sandbox.engine.EngineEvent.Removed;
import io.kvindex.sandbox.engine.EngineEvent.Stored;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Prefix cache of one engine: device blocks as vLLM manages them, and a host tier that takes what
 * the device evicts. Collects the events of the current step. Not thread-safe.
 */
final class EngineCache {
  private static final int[] NO_TOKENS = {};

  private final EngineOptions options;
  private final @Nullable PromptHasher hasher;
  private final SplittableRandom randomNames;
  private final BlockTrie trie;
  private final GpuPool gpu;
  private final HostTier host;
  private final Random reports;
  private final Map<String, Integer> loraIds = new LinkedHashMap<>();
  private final List<EngineEvent> gpuEvents = new ArrayList<>();

  /** vLLM sends its connector's events after the block manager's; SGLang has one list. */
  private final List<EngineEvent> hostEvents;

  EngineCache(EngineOptions options) {
    this.options = options;
    this.hasher = options.hashing.hasher(options.pythonHashSeed);
    this.randomNames = new SplittableRandom(options.seed);
    this.trie = new BlockTrie(options.blockSize(), hasher == null);
    this.gpu = new GpuPool(options.gpuBlocks);
    this.reports = new Random(options.seed);
    this.host = new HostTier(options.hostBlocks);
    this.hostEvents = options.dialect() == EngineDialect.VLLM ? new ArrayList<>() : gpuEvents;
  }

  Prefill prefill(int[] tokens, CacheContext context) {
    int blockSize = trie.blockSize();
    int usable = Math.min(tokens.length / blockSize, gpu.capacity());
    List<TrieNode> hits = new ArrayList<>();
    TrieNode root = trie.root(context);
    int onDevice = walk(tokens, root, usable, Medium.GPU, hits);
    int onHost = walk(tokens, root, usable, Medium.HOST, hits);
    int found = hits.size();
    if (found > 0
        && found * blockSize == tokens.length
        && options.dialect() == EngineDialect.VLLM) {
      hits.remove(found - 1);
    }
    store(tokens, root, usable, hits, Math.min(onDevice, hits.size()));
    return new Prefill(
        tokens.length, onDevice * blockSize, onHost * blockSize, (found - hits.size()) * blockSize);
  }

  /** Continues {@code hits} while {@code medium} holds the next block; returns how many it did. */
  private int walk(int[] tokens, TrieNode root, int usable, Medium medium, List<TrieNode> hits) {
    int before = hits.size();
    TrieNode at = before == 0 ? root : hits.get(before - 1);
    while (hits.size() < usable) {
      TrieNode next = trie.find(at, trie.block(tokens, hits.size()));
      if (next == null || !(medium == Medium.GPU ? next.onGpu() : next.onHost)) {
        break;
      }
      hits.add(next);
      at = next;
    }
    return hits.size() - before;
  }

  /** Allocates, loads and computes what the device lacks, then frees all, the tail first. */
  private void store(int[] tokens, TrieNode root, int usable, List<TrieNode> hits, int onDevice) {
    List<GpuPool.Slot> slots = new ArrayList<>();
    for (TrieNode hit : hits.subList(0, onDevice)) {
      slots.add(gpu.touch(hit));
    }
    if (onDevice > 0 && reports.nextDouble() < options.fullReports()) {
      List<Block> reused = hits.subList(0, onDevice).stream().map(this::announced).toList();
      gpuEvents.add(new Stored(Medium.GPU, reused, origin(root)));
    }
    List<TrieNode> loading = hits.subList(onDevice, hits.size());
    for (int i = loading.size() - 1; i >= 0; i--) {
      host.touch(loading.get(i));
    }
    int needed = Math.min(ceilDiv(tokens.length, trie.blockSize()), gpu.capacity());
    Set<TrieNode> pinned = new HashSet<>(loading);
    while (slots.size() < needed) {
      GpuPool.Slot slot = gpu.take();
      evict(slot, pinned);
      slots.add(slot);
    }
    fill(tokens, onDevice == 0 ? root : hits.get(onDevice - 1), slots, onDevice, usable);
    for (int i = slots.size() - 1; i >= 0; i--) {
      gpu.release(slots.get(i));
    }
  }

  private void fill(int[] tokens, TrieNode after, List<GpuPool.Slot> slots, int from, int to) {
    if (from >= to) {
      return;
    }
    long[] names = names(tokens, after.context, to);
    List<Block> run = new ArrayList<>();
    TrieNode at = after;
    for (int i = from; i < to; i++) {
      at = trie.findOrAdd(at, trie.block(tokens, i), names[i]);
      slots.get(i).fill(at);
      run.add(announced(at));
    }
    gpuEvents.add(new Stored(Medium.GPU, run, origin(after)));
  }

  /** Names of the prompt's first blocks; a block that has one already keeps it. */
  private long[] names(int[] tokens, CacheContext context, int blocks) {
    if (hasher == null) {
      return randomNames.longs(blocks).toArray();
    }
    hasher.begin(context.lora(), context.salt());
    long[] names = new long[blocks];
    for (int i = 0; i < blocks; i++) {
      names[i] = hasher.next(tokens, i * trie.blockSize(), trie.blockSize());
    }
    return names;
  }

  private Block announced(TrieNode node) {
    return new Block(node.hash, options.deviceTokens ? node.tokens : NO_TOKENS);
  }

  private void evict(GpuPool.Slot slot, Set<TrieNode> pinned) {
    TrieNode node = slot.empty();
    if (node == null) {
      return;
    }
    gpuEvents.add(new Removed(Medium.GPU, node.hash));
    if (!node.onGpu() && !host.isAbsent()) {
      offload(node, pinned);
    }
    trie.prune(node);
  }

  private void offload(TrieNode node, Set<TrieNode> pinned) {
    if (node.onHost) {
      host.touch(node);
      return;
    }
    TrieNode evicted = null;
    if (host.isFull()) {
      evicted = host.evict(pinned);
      if (evicted == null) {
        return; // what is being loaded must stay, so this block is simply lost
      }
      hostEvents.add(new Removed(Medium.HOST, evicted.hash));
    }
    host.add(node);
    if (evicted != null) {
      trie.prune(evicted); // only now: the new block may be its ancestor
    }
    hostEvents.add(hostStore(node));
  }

  private Stored hostStore(TrieNode node) {
    TrieNode parent = node.parent;
    boolean placeholder = options.hostStores == HostStoreForm.PLACEHOLDER || parent == null;
    return new Stored(
        Medium.HOST,
        List.of(new Block(node.hash, placeholder ? NO_TOKENS : node.tokens)),
        parent == null || placeholder ? Origin.placeholder() : origin(parent));
  }

  private Origin origin(TrieNode parent) {
    String lora = parent.context.lora();
    return new Origin(
        parent.isRoot() ? null : parent.hash,
        parent.isRoot(),
        trie.blockSize(),
        loraId(lora),
        lora,
        parent.context.salt());
  }

  /** Adapters are numbered from 1 in order of first use, as vLLM's requests carry them. */
  private @Nullable Integer loraId(@Nullable String lora) {
    if (lora == null) {
      return null;
    }
    Integer known = loraIds.get(lora);
    int id = known == null ? loraIds.size() + 1 : known;
    loraIds.put(lora, id);
    return id;
  }

  /** Resets the prefix cache; vLLM's host tier survives it, SGLang's does not. */
  void clear() {
    for (GpuPool.Slot slot : gpu.slots()) {
      TrieNode node = slot.empty();
      if (node != null) {
        trie.prune(node);
      }
    }
    if (options.dialect() == EngineDialect.SGLANG) {
      List<TrieNode> held = host.blocks();
      host.clear();
      held.forEach(trie::prune);
    }
    gpuEvents.add(new Cleared());
  }

  /** The events since the last call, in the order the engine sends them. */
  List<EngineEvent> takeEvents() {
    List<EngineEvent> events = new ArrayList<>(gpuEvents);
    gpuEvents.clear();
    events.addAll(hostEvents); // SGLang's is the same list, empty by now
    hostEvents.clear();
    return events;
  }

  Holdings holdings(int[] tokens, CacheContext context) {
    return trie.holdings(tokens, context);
  }

  private static int ceilDiv(int a, int b) {
    return (a + b - 1) / b;
  }
}
