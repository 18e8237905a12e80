// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.query.peer.PeerBlocks.Source;
import io.kvindex.query.peer.PeerMeters.Outcome;
import java.io.IOException;
import java.io.InputStream;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads a dump into the blocks of each publisher. All or nothing: what is malformed anywhere is
 * taken from nowhere. A partition the peer could not read is left out. For one dump.
 */
final class DumpReader {

  /** Publishers of a dump at most: what names them is memory too. */
  private static final int MAX_PUBLISHERS = 65_536;

  private final DumpTokens tokens;
  private final DumpedEvent event;
  private final long maxBlocks;
  private final Map<Source, PeerBlocks> found = new LinkedHashMap<>();
  private final Map<Outcome, Long> leftOut = new EnumMap<>(Outcome.class);
  private long held;

  // of the partition being read
  private final Map<PublisherId, PeerBlocks> part = new LinkedHashMap<>();
  private String key = "";
  private long blockSize;
  private boolean failed;
  private Map<String, String> ours = Map.of();

  private DumpReader(DumpTokens tokens, long maxBlocks) {
    this.tokens = tokens;
    this.event = new DumpedEvent(tokens);
    this.maxBlocks = maxBlocks;
  }

  /**
   * What a dump says.
   *
   * @param blocks by whose they are
   * @param leftOut blocks that are of no use, or events where nobody counted those
   */
  record Dump(Map<Source, PeerBlocks> blocks, Map<Outcome, Long> leftOut) {}

  /**
   * Reads a dump.
   *
   * @param maxBlocks blocks kept at most
   * @throws IOException also if it is none
   */
  static Dump read(InputStream in, long maxBlocks) throws IOException {
    try (DumpTokens tokens = new DumpTokens(in)) {
      DumpReader reader = new DumpReader(tokens, maxBlocks);
      tokens.start();
      tokens.object(reader::partition);
      tokens.end();
      return new Dump(reader.found, reader.leftOut);
    }
  }

  private void partition(String name) throws IOException {
    key = name;
    blockSize = 0;
    failed = false;
    ours = Map.of();
    part.clear();
    tokens.object(this::partitionMember);
    long blocks = part.values().stream().mapToLong(PeerBlocks::blocks).sum();
    Source like = failed ? null : source();
    if (like == null) {
      held -= blocks;
      leaveOut(Outcome.PARTITION, Math.max(1, blocks));
      return;
    }
    part.forEach(
        (publisher, some) ->
            found.put(
                new Source(
                    new PublisherId(
                        publisher.instanceId(), like.publisher().tenantId(), publisher.dpRank()),
                    like.model(),
                    like.blockSize(),
                    like.profile()),
                some));
  }

  private void partitionMember(String name) throws IOException {
    switch (name) {
      case "block_size" -> blockSize = tokens.isNull() ? 0 : tokens.number();
      case "events" -> tokens.array(this::event);
      case "error" -> {
        failed = true;
        tokens.skip();
      }
      case "kvindex" -> ours = tokens.texts();
      default -> tokens.skip();
    }
  }

  /** What the partition says of all its blocks, null = too little, or nothing that can be used. */
  private @Nullable Source source() {
    int colon = key.lastIndexOf(':');
    String model = ours.getOrDefault("model", colon < 0 ? "" : key.substring(0, colon));
    String tenant = ours.getOrDefault("tenant_id", key.substring(colon + 1));
    if (model.isEmpty()
        || tenant.isEmpty()
        || blockSize < 1
        || blockSize > TableId.MAX_BLOCK_SIZE) {
      return null;
    }
    try {
      return new Source(new PublisherId("-", tenant, 0), model, (int) blockSize, profile());
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  private @Nullable HashProfile profile() {
    String algorithm = ours.get("hash_algorithm");
    if (algorithm == null) {
      return null;
    }
    return new HashProfile(
        HashProfile.Algorithm.byWireName(algorithm).orElseThrow(IllegalArgumentException::new),
        ours.getOrDefault("hash_seed", ""));
  }

  private void event() throws IOException {
    event.read();
    PublisherId publisher = publisher();
    if (event.kind == DumpedEvent.Kind.TAKEN_BACK) {
      PeerBlocks some = part.get(publisher);
      long gone = some == null ? 0 : some.remove(event.rank);
      held -= gone;
      leaveOut(Outcome.TAKEN_BACK, gone);
    } else if (event.kind == DumpedEvent.Kind.STORED && event.count > 0) {
      stored(publisher);
    }
  }

  private PublisherId publisher() throws IOException {
    String instance = event.ours.get("instance_id");
    String rank = event.ours.get("publisher_rank");
    try {
      return new PublisherId(
          instance == null ? Long.toUnsignedString(event.workerId) : instance,
          PublisherId.DEFAULT_TENANT,
          rank == null ? event.rank : Integer.parseInt(rank));
    } catch (IllegalArgumentException e) {
      throw tokens.malformed("an instance and a rank");
    }
  }

  private void stored(PublisherId publisher) {
    Parent parent = event.parent();
    StorageTier tier = StorageTier.byWireName(event.tier).orElse(null);
    Outcome useless = null;
    if (tier == null) {
      useless = Outcome.TIER;
    } else if (event.ours.containsKey("unverified")) {
      useless = Outcome.HEARSAY;
    } else if (!event.domain.equals("worker")) {
      useless = Outcome.CACHE_OWNER;
    } else if (parent == null) {
      useless = Outcome.NO_PARENT;
    } else if (held + event.count > maxBlocks
        || !part.containsKey(publisher) && part.size() + found.size() >= MAX_PUBLISHERS) {
      useless = Outcome.HELD_LIMIT;
    }
    if (useless != null || tier == null || parent == null) {
      leaveOut(useless == null ? Outcome.NO_PARENT : useless, event.count);
      return;
    }
    StatedContext context =
        new StatedContext(
            event.ours.get("lora_name"),
            null,
            event.ours.get("additionalsalt"),
            event.ours.get("cache_salt"));
    part.computeIfAbsent(publisher, p -> new PeerBlocks())
        .add(
            new PeerBlocks.Where(tier.medium(event.ours.get("medium")), event.rank, context),
            parent,
            event.pairs,
            event.count);
    held += event.count;
  }

  private void leaveOut(Outcome outcome, long blocks) {
    leftOut.merge(outcome, blocks, Long::sum);
  }
}
