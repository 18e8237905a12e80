// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import io.kvindex.model.event.Parent;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One {@code RouterEvent} of a dump, read over and over into the same memory. Source: Dynamo,
 * {@code lib/kv-router}, protocols.
 */
final class DumpedEvent {

  /** What an event says of its blocks. */
  enum Kind {
    NONE,
    STORED,
    /** Blocks taken back, all or some: nothing that was said of the rank counts. */
    TAKEN_BACK
  }

  private static final int MAX_BLOCKS = 1 << 20;

  private final DumpTokens tokens;
  long workerId;
  private boolean hasWorker;
  String tier = "";
  String domain = "";
  int rank;
  Map<String, String> ours = Map.of();
  Kind kind = Kind.NONE;
  long[] pairs = new long[512];
  int count;
  private @Nullable Long parentHash;
  private int startPosition;

  DumpedEvent(DumpTokens tokens) {
    this.tokens = tokens;
  }

  /** Reads the event the parser stands at. */
  void read() throws IOException {
    hasWorker = false;
    tier = StorageTier.DEVICE.wireName();
    domain = "worker";
    rank = 0;
    ours = Map.of();
    kind = Kind.NONE;
    count = 0;
    parentHash = null;
    startPosition = 0;
    tokens.object(this::member);
    if (!hasWorker) {
      throw tokens.malformed("a worker_id");
    }
  }

  private void member(String name) throws IOException {
    switch (name) {
      case "worker_id" -> {
        workerId = tokens.hash();
        hasWorker = true;
      }
      case "storage_tier" -> tier = tokens.isNull() ? tier : tokens.text();
      case "residency_domain" -> domain = tokens.isNull() ? domain : tokens.text();
      case "event" -> tokens.object(this::eventMember);
      case "kvindex" -> ours = tokens.texts();
      default -> tokens.skip();
    }
  }

  private void eventMember(String name) throws IOException {
    if (name.equals("dp_rank")) {
      rank = tokens.isNull() ? 0 : tokens.number();
    } else if (!name.equals("data")) {
      tokens.skip();
    } else if (tokens.isText()) {
      kind = Kind.TAKEN_BACK; // "cleared"
    } else {
      tokens.object(this::dataMember);
    }
  }

  private void dataMember(String name) throws IOException {
    if (name.equals("stored")) {
      kind = Kind.STORED;
      tokens.object(this::storedMember);
    } else {
      kind = Kind.TAKEN_BACK;
      tokens.skip();
    }
  }

  private void storedMember(String name) throws IOException {
    switch (name) {
      case "parent_hash" -> parentHash = tokens.isNull() ? null : Long.valueOf(tokens.hash());
      case "start_position" -> startPosition = tokens.isNull() ? 0 : tokens.number();
      case "blocks" -> tokens.array(this::block);
      default -> tokens.skip();
    }
  }

  private void block() throws IOException {
    if (count == MAX_BLOCKS) {
      throw tokens.malformed("no more than " + MAX_BLOCKS + " blocks in an event");
    }
    if (2 * count == pairs.length) {
      pairs = Arrays.copyOf(pairs, 2 * pairs.length);
    }
    int[] seen = {0};
    tokens.object(
        name -> {
          if (name.equals("block_hash")) {
            pairs[2 * count] = tokens.hash();
            seen[0] |= 1;
          } else if (name.equals("tokens_hash")) {
            pairs[2 * count + 1] = tokens.hash();
            seen[0] |= 2;
          } else {
            tokens.skip();
          }
        });
    if (seen[0] != 3) {
      throw tokens.malformed("block_hash and tokens_hash");
    }
    count++;
  }

  /** The block before the first one, null = not said: such a block must not open a prompt. */
  @Nullable Parent parent() {
    if (parentHash != null) {
      return Parent.of(parentHash);
    }
    return startPosition == 0 ? Parent.ROOT : null;
  }
}
