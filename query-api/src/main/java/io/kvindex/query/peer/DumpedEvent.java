// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import io.kvindex.model.event.Parent;
import io.kvindex.query.parse.HashText;
import java.io.IOException;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One {@code RouterEvent} of a dump; what is not there is what Dynamo takes it for. Source: Dynamo,
 * {@code lib/kv-router}, protocols.
 *
 * @param ours what Dynamo has no member for
 */
record DumpedEvent(
    @JsonProperty(value = "worker_id", required = true) BigInteger workerId,
    @JsonProperty("storage_tier") String tier,
    @JsonProperty("residency_domain") String domain,
    @JsonProperty("event") Happened event,
    @JsonProperty("kvindex") Ours ours) {

  private static final int MAX_BLOCKS = 1 << 20;

  DumpedEvent {
    bits(workerId);
    tier = tier == null ? StorageTier.DEVICE.wireName() : tier;
    domain = domain == null ? "worker" : domain;
    event = event == null ? new Happened(null, 0) : event;
    ours = ours == null ? Ours.NOTHING : ours;
  }

  /**
   * @param data null = nothing
   */
  record Happened(@JsonProperty("data") @Nullable Data data, @JsonProperty("dp_rank") int rank) {
    Happened {
      requireCount(rank);
    }
  }

  /**
   * What an event says of its blocks.
   *
   * @param stored null = blocks are taken back, all or some: nothing that was said of the rank
   *     counts
   */
  record Data(@JsonProperty("stored") @Nullable Stored stored) {

    @JsonCreator(mode = JsonCreator.Mode.PROPERTIES)
    Data {}

    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    static Data cleared(String word) {
      return new Data(null);
    }
  }

  /**
   * A run of blocks.
   *
   * @param pairs engine hash and local hash of each block in turn
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Stored(
      @JsonProperty("parent_hash") @Nullable BigInteger parentHash,
      @JsonProperty("start_position") int startPosition,
      @JsonProperty("blocks") @JsonDeserialize(using = Pairs.class) long[] pairs) {

    Stored {
      requireCount(startPosition);
      pairs = pairs == null ? new long[0] : pairs;
    }

    int count() {
      return pairs.length / 2;
    }

    /** The block before the first one, null = not said: such a block must not open a prompt. */
    @Nullable Parent parent() {
      if (parentHash != null) {
        return Parent.of(bits(parentHash));
      }
      return startPosition == 0 ? Parent.ROOT : null;
    }
  }

  private record Block(
      @JsonProperty(value = "block_hash", required = true) BigInteger engine,
      @JsonProperty(value = "tokens_hash", required = true) BigInteger local) {}

  /** Reads blocks into an array: there may be a million. */
  private static final class Pairs extends JsonDeserializer<long[]> {

    @Override
    public long[] deserialize(JsonParser json, DeserializationContext context) throws IOException {
      long[] pairs = new long[16];
      int size = 0;
      if (!json.isExpectedStartArrayToken()) {
        context.reportInputMismatch(this, "expected an array of blocks");
      }
      while (json.nextToken() != JsonToken.END_ARRAY) {
        if (size == 2 * MAX_BLOCKS) {
          context.reportInputMismatch(this, "more than %d blocks in an event", MAX_BLOCKS);
        }
        if (size == pairs.length) {
          pairs = Arrays.copyOf(pairs, 2 * size);
        }
        Block block = context.readValue(json, Block.class);
        pairs[size++] = bits(block.engine());
        pairs[size++] = bits(block.local());
      }
      return Arrays.copyOf(pairs, size);
    }
  }

  /**
   * What only this program's dumps say.
   *
   * @param unverified there at all = the peer has it from a peer itself
   */
  record Ours(
      @JsonProperty("instance_id") @Nullable String instanceId,
      @JsonProperty("publisher_rank") @Nullable Integer publisherRank,
      @JsonProperty("unverified") @Nullable Boolean unverified,
      @JsonProperty("medium") @Nullable String medium,
      @JsonProperty("lora_name") @Nullable String loraName,
      @JsonProperty("additionalsalt") @Nullable String namespace,
      @JsonProperty("cache_salt") @Nullable String salt) {
    static final Ours NOTHING = new Ours(null, null, null, null, null, null, null);
  }

  /** A number of 64 bits, as raw bits; from -2^63 to 2^64-1. */
  static long bits(BigInteger number) {
    Long bits = HashText.parse(number.toString());
    return Objects.requireNonNull(bits, "a 64-bit number");
  }

  static void requireCount(int number) {
    if (number < 0) {
      throw new IllegalArgumentException("a number from 0 to 2147483647, not " + number);
    }
  }
}
