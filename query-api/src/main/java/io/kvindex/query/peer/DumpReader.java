// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.event.StrictJson;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.query.peer.PeerBlocks.Source;
import io.kvindex.query.peer.PeerMeters.Outcome;
import java.io.IOException;
import java.io.InputStream;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads a dump into the blocks of each publisher. All or nothing: what is malformed anywhere is
 * taken from nowhere. A partition the peer could not read is left out. For one dump.
 */
final class DumpReader {

  /** Publishers of a dump at most: what names them is memory too. */
  private static final int MAX_PUBLISHERS = 65_536;

  private static final int MAX_TEXT = 16_384;
  private static final int MAX_DEPTH = 64;

  private static final JsonMapper JSON =
      StrictJson.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxStringLength(MAX_TEXT)
                          .maxNameLength(MAX_TEXT)
                          .maxNestingDepth(MAX_DEPTH)
                          .maxNumberLength(40)
                          .build())
                  // Keys are names of models and tenants: no table of them is kept.
                  .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
                  .build())
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

  private final JsonParser json;
  private final long maxBlocks;
  private final Map<Source, PeerBlocks> found = new LinkedHashMap<>();
  private final Map<Outcome, Long> leftOut = new EnumMap<>(Outcome.class);
  private long held;

  // of the partition being read
  private final Map<PublisherId, PeerBlocks> part = new LinkedHashMap<>();
  private String key = "";
  private int blockSize;
  private boolean failed;
  private Ours ours = Ours.NOTHING;

  private DumpReader(JsonParser json, long maxBlocks) {
    this.json = json;
    this.maxBlocks = maxBlocks;
  }

  /** What only this program's dumps say of a partition. */
  private record Ours(
      @JsonProperty("tenant_id") @Nullable String tenant,
      @JsonProperty("model") @Nullable String model,
      @JsonProperty("hash_algorithm") @Nullable String algorithm,
      @JsonProperty("hash_seed") @Nullable String seed) {
    static final Ours NOTHING = new Ours(null, null, null, null);
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
    try (JsonParser json = JSON.createParser(in)) {
      DumpReader reader = new DumpReader(json, maxBlocks);
      reader.require(json.nextToken(), JsonToken.START_OBJECT);
      while (json.nextToken() == JsonToken.FIELD_NAME) {
        reader.partition(json.currentName());
      }
      reader.require(json.currentToken(), JsonToken.END_OBJECT);
      reader.require(json.nextToken(), null);
      return new Dump(reader.found, reader.leftOut);
    } catch (JsonProcessingException e) {
      JsonLocation at = e.getLocation();
      String where = at == null ? "" : " at byte " + at.getByteOffset();
      throw new IOException(e.getOriginalMessage() + where, e);
    }
  }

  private void require(@Nullable JsonToken found, @Nullable JsonToken wanted) throws IOException {
    if (found != wanted) {
      throw new JsonParseException(json, "expected " + wanted + ", found " + found);
    }
  }

  private void partition(String name) throws IOException {
    key = name;
    blockSize = 0;
    failed = false;
    ours = Ours.NOTHING;
    part.clear();
    require(json.nextToken(), JsonToken.START_OBJECT);
    while (json.nextToken() == JsonToken.FIELD_NAME) {
      partitionMember(json.currentName(), json.nextToken());
    }
    require(json.currentToken(), JsonToken.END_OBJECT);
    long blocks = part.values().stream().mapToLong(PeerBlocks::blocks).sum();
    Source like = failed ? null : source();
    if (like == null) {
      held -= blocks;
      leaveOut(Outcome.PARTITION, Math.max(1, blocks));
      return;
    }
    for (Map.Entry<PublisherId, PeerBlocks> some : part.entrySet()) {
      PublisherId of = some.getKey();
      PublisherId publisher =
          new PublisherId(of.instanceId(), like.publisher().tenantId(), of.dpRank());
      Source source = new Source(publisher, like.model(), like.blockSize(), like.profile());
      if (found.put(source, some.getValue()) != null) {
        throw new JsonParseException(json, "another partition is of the table of " + key);
      }
    }
  }

  private void partitionMember(String name, JsonToken value) throws IOException {
    switch (name) {
      case "block_size" -> {
        if (value != JsonToken.VALUE_NULL) {
          require(value, JsonToken.VALUE_NUMBER_INT);
          blockSize = json.getIntValue();
          if (blockSize < 0) {
            throw new JsonParseException(json, "expected a block size, found " + blockSize);
          }
        }
      }
      case "events" -> {
        require(value, JsonToken.START_ARRAY);
        while (json.nextToken() != JsonToken.END_ARRAY) {
          require(json.currentToken(), JsonToken.START_OBJECT);
          event(JSON.readValue(json, DumpedEvent.class));
        }
      }
      case "error" -> {
        failed |= value != JsonToken.VALUE_NULL;
        json.skipChildren();
      }
      case "kvindex" ->
          ours = Objects.requireNonNullElse(JSON.readValue(json, Ours.class), Ours.NOTHING);
      default -> json.skipChildren();
    }
  }

  /** What the partition says of all its blocks, null = too little, or nothing that can be used. */
  private @Nullable Source source() {
    int colon = key.lastIndexOf(':');
    String model = Objects.requireNonNullElse(ours.model(), key.substring(0, Math.max(0, colon)));
    String tenant = Objects.requireNonNullElse(ours.tenant(), key.substring(colon + 1));
    if (model.isEmpty()
        || tenant.isEmpty()
        || blockSize < 1
        || blockSize > TableId.MAX_BLOCK_SIZE) {
      return null;
    }
    try {
      return new Source(new PublisherId("-", tenant, 0), model, blockSize, profile());
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  private @Nullable HashProfile profile() {
    String algorithm = ours.algorithm();
    if (algorithm == null) {
      return null;
    }
    return new HashProfile(
        HashProfile.Algorithm.byWireName(algorithm).orElseThrow(IllegalArgumentException::new),
        Objects.requireNonNullElse(ours.seed(), ""));
  }

  private void event(DumpedEvent event) throws IOException {
    DumpedEvent.Data data = event.event().data();
    if (data == null) {
      return;
    }
    PublisherId publisher = publisher(event);
    int rank = event.event().rank();
    DumpedEvent.Stored stored = data.stored();
    if (stored == null) {
      PeerBlocks some = part.get(publisher);
      long gone = some == null ? 0 : some.remove(rank);
      held -= gone;
      leaveOut(Outcome.TAKEN_BACK, gone);
    } else if (stored.count() > 0) {
      stored(publisher, rank, event, stored);
    }
  }

  private PublisherId publisher(DumpedEvent event) throws IOException {
    String instance = event.ours().instanceId();
    Integer rank = event.ours().publisherRank();
    try {
      return new PublisherId(
          instance == null ? Long.toUnsignedString(DumpedEvent.bits(event.workerId())) : instance,
          PublisherId.DEFAULT_TENANT,
          rank == null ? event.event().rank() : rank);
    } catch (IllegalArgumentException e) {
      throw new JsonParseException(json, "expected an instance and a rank", e);
    }
  }

  private void stored(
      PublisherId publisher, int rank, DumpedEvent event, DumpedEvent.Stored stored) {
    Parent parent = stored.parent();
    StorageTier tier = StorageTier.byWireName(event.tier());
    Outcome useless = null;
    if (tier == null) {
      useless = Outcome.TIER;
    } else if (event.ours().unverified() != null) {
      useless = Outcome.HEARSAY;
    } else if (!event.domain().equals("worker")) {
      useless = Outcome.CACHE_OWNER;
    } else if (parent == null) {
      useless = Outcome.NO_PARENT;
    } else if (held + stored.count() > maxBlocks
        || !part.containsKey(publisher) && part.size() + found.size() >= MAX_PUBLISHERS) {
      useless = Outcome.HELD_LIMIT;
    }
    if (useless != null || tier == null || parent == null) {
      leaveOut(useless == null ? Outcome.NO_PARENT : useless, stored.count());
      return;
    }
    StatedContext context =
        new StatedContext(
            event.ours().loraName(), null, event.ours().namespace(), event.ours().salt());
    part.computeIfAbsent(publisher, p -> new PeerBlocks())
        .add(
            new PeerBlocks.Where(tier.medium(event.ours().medium()), rank, context),
            parent,
            stored.pairs(),
            stored.count());
    held += stored.count();
  }

  private void leaveOut(Outcome outcome, long blocks) {
    leftOut.merge(outcome, blocks, Long::sum);
  }
}
