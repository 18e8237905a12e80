// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An index of one engine made from nothing but its payloads: hashes are resolved to whole prefixes,
 * copies are counted, answers are found by comparing prefixes.
 */
final class NaiveIndex {
  private final boolean clearEmptiesHost;
  private final Map<Long, List<Object>> prefixes = new HashMap<>();
  private final Map<String, Map<Long, Integer>> copies = new HashMap<>();
  int placeholders;
  int duplicates;

  NaiveIndex(boolean clearEmptiesHost) {
    this.clearEmptiesHost = clearEmptiesHost;
  }

  void apply(byte[] payload) {
    for (WireReader.Event event : WireReader.read(payload)) {
      switch (event.kind()) {
        case "BlockStored" -> stored(event);
        case "BlockRemoved" -> removed(event);
        case "AllBlocksCleared" -> {
          if (clearEmptiesHost) {
            copies.clear();
          } else {
            copies.remove("GPU");
          }
        }
        default -> throw new IllegalArgumentException(event.kind());
      }
    }
  }

  private void stored(WireReader.Event event) {
    Map<Long, Integer> held = copies.computeIfAbsent(event.medium(), m -> new HashMap<>());
    if (event.tokens().isEmpty()) {
      placeholders++;
      event.hashes().forEach(hash -> prefix(hash)); // must be known already
    } else {
      learn(event);
    }
    for (long hash : event.hashes()) {
      if (held.merge(hash, 1, Integer::sum) > 1) {
        duplicates++;
      }
    }
  }

  private void learn(WireReader.Event event) {
    Long parent = event.parent();
    List<Object> prefix = new ArrayList<>(parent == null ? root(event) : prefix(parent));
    int size = event.blockSize();
    if (event.tokens().size() != size * event.hashes().size()) {
      throw new IllegalArgumentException("tokens do not fit the hashes");
    }
    for (int i = 0; i < event.hashes().size(); i++) {
      prefix.add(List.copyOf(event.tokens().subList(i * size, (i + 1) * size)));
      List<Object> known = prefixes.put(event.hashes().get(i), List.copyOf(prefix));
      if (known != null && !known.equals(prefix)) {
        throw new IllegalStateException("one hash for two prefixes");
      }
    }
  }

  /** Adapter and salt of a prompt's first block, as each engine says them. */
  private static List<Object> root(WireReader.Event event) {
    String salt = event.cacheSalt();
    String extra = event.extraKeys();
    if (extra != null && extra.startsWith("[[")) {
      List<String> keys =
          List.of(extra.substring(2, extra.indexOf(']')).replace("\"", "").split(","));
      int salts = event.loraName() == null ? 0 : 1;
      salt = keys.size() > salts ? keys.get(salts) : null;
    }
    return root(event.loraName(), salt);
  }

  private static List<Object> root(@Nullable String lora, @Nullable String salt) {
    return List.of("lora=" + lora, "salt=" + salt);
  }

  private List<Object> prefix(long hash) {
    List<Object> prefix = prefixes.get(hash);
    if (prefix == null) {
      throw new IllegalStateException("unknown hash " + hash);
    }
    return prefix;
  }

  private void removed(WireReader.Event event) {
    Map<Long, Integer> held = copies.computeIfAbsent(event.medium(), m -> new HashMap<>());
    for (long hash : event.hashes()) {
      Integer before = held.get(hash);
      if (before == null) {
        throw new IllegalStateException("removal of a block not held: " + hash);
      }
      if (before == 1) {
        held.remove(hash);
      } else {
        held.put(hash, before - 1);
      }
    }
  }

  /**
   * All prefixes a medium holds; blocks are lists of tokens, the first two say adapter and salt.
   */
  Set<List<Object>> held(String medium) {
    Set<List<Object>> result = new HashSet<>();
    copies.getOrDefault(medium, Map.of()).keySet().forEach(hash -> result.add(prefix(hash)));
    return result;
  }

  static List<Object> prompt(
      int[] tokens, int blocks, int size, @Nullable String lora, @Nullable String salt) {
    List<Object> prefix = new ArrayList<>(root(lora, salt));
    for (int i = 0; i < blocks; i++) {
      List<Long> block = new ArrayList<>();
      for (int t = i * size; t < (i + 1) * size; t++) {
        block.add(Integer.toUnsignedLong(tokens[t]));
      }
      prefix.add(block);
    }
    return prefix;
  }
}
