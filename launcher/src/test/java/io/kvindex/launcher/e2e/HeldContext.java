// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.StreamId;
import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.DynamoSeed;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.hash.PromptHasher;
import io.kvindex.model.hash.SeqHash;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A prompt's blocks in one context, held by an instance of its own. Empty names are none.
 *
 * @param table tenant, model, block size and hash profile
 * @param engineName what tells the engine's names of its blocks apart from another engine's
 */
record HeldContext(
    TableId table,
    String lora,
    @Nullable Integer loraId,
    String namespace,
    String salt,
    String instance,
    long engineName) {

  /** The adapter's name in the index: that of one known by its number is made from that. */
  String adapter() {
    return lora.isEmpty() && loraId != null ? StatedContext.nameOf(loraId) : lora;
  }

  private @Nullable Long number() {
    return loraId == null ? null : loraId.longValue();
  }

  /** What a query states as {@code cache_salt} to mean this context. */
  String cacheSalt() {
    return salt.isEmpty() ? namespace : salt;
  }

  boolean isDynamo() {
    return table.hashProfile().algorithm() == Algorithm.XXH3_DYNAMO;
  }

  /** Hashes of the prompt's single blocks, as the bridge makes them. */
  long[] locals(int[] prompt) {
    long seed = table.hashProfile().xxh3Seed();
    long own = isDynamo() ? DynamoSeed.of(seed, adapter(), salt) : seed;
    return new SeqHash(own).locals(prompt, prompt.length, table.blockSize());
  }

  /** Hashes of its prefixes. */
  long[] prefixes(int[] prompt) {
    PromptHasher hasher = PromptHasher.of(table.hashProfile());
    hasher.begin(adapter(), salt);
    long[] hashes = new long[prompt.length / table.blockSize()];
    for (int i = 0; i < hashes.length; i++) {
      hashes[i] = hasher.next(prompt, i * table.blockSize(), table.blockSize());
    }
    return hashes;
  }

  /** The record that stores the prompt; the salt is said with its first block only. */
  EventRecord stored(int[] prompt) {
    long[] locals = locals(prompt);
    long[] names = new long[locals.length];
    for (int i = 0; i < names.length; i++) {
      names[i] = engineName + i + 1;
    }
    String adapter = none(adapter());
    String space = none(namespace);
    Hashes all = Hashes.of(names);
    Hashes tokens = Hashes.of(locals);
    Place place = new Place("GPU", 0, 0, null);
    List<KvEvent> events =
        List.of(
            new KvEvent.Stored(
                place,
                new StatedContext(adapter, number(), space, none(salt)),
                Parent.ROOT,
                all.slice(0, 1),
                tokens.slice(0, 1),
                Hashes.EMPTY),
            new KvEvent.Stored(
                place,
                new StatedContext(adapter, number(), space, null),
                Parent.of(names[0]),
                all.slice(1, names.length),
                tokens.slice(1, names.length),
                Hashes.EMPTY));
    return new EventRecord(
        table,
        StreamId.of(new PublisherId(instance, table.tenantId(), 0)),
        SourceType.VLLM,
        SourceTraits.defaultFor(SourceType.VLLM),
        new Incarnation(1_000_000, 1_000_000, 0),
        EventRecord.Position.whole(0),
        null,
        0,
        events);
  }

  private static @Nullable String none(String text) {
    return text.isEmpty() ? null : text;
  }
}
