// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.contract;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.Parent;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.BridgeProgressCodec;
import io.kvindex.model.progress.Connection;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.model.quarantine.QuarantineCodec;
import io.kvindex.model.quarantine.QuarantinedFrame;
import io.kvindex.model.topic.Topics;
import io.kvindex.query.conductor.BareIndex;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.TableView;
import io.kvindex.sandbox.broker.SharedBroker;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.view.DumpVisitor;
import io.kvindex.streams.view.HeldBlock;
import io.kvindex.streams.view.OwnerDigest;
import io.kvindex.streams.view.OwnerIdentity;
import io.kvindex.streams.view.PartitionDigest;
import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.StreamPosition;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * What the file's examples are about: the blocks of one prompt on {@code vllm-1}, a pool and
 * Dynamo's worker 7, and what the bridge said of {@code vllm-1}.
 */
final class ContractWorld implements IndexAccess {
  static final Map<String, Object> KAFKA =
      Map.of("bootstrap.servers", SharedBroker.bootstrapServers());
  static final PublisherId VLLM = new PublisherId("vllm-1", "default", 0);

  private static final int BLOCK = 16;
  private static final int LIFE = 7;
  private static final int PARTITION = 3;
  private static final long EVENT = 40;
  private static final long MICROS = 1_795_000_000_000_000L;
  private static final long[] ENGINE_HASHES = {11, 12};

  private static final OwnerIdentity OWNER =
      new OwnerIdentity(
          new TableId("default", "qwen2.5-7b", BLOCK, HashProfile.XXH3_DEFAULT),
          VLLM,
          0,
          "GPU",
          null,
          false,
          12,
          LIFE,
          0);

  private final BareIndex index = new BareIndex();
  private final long[] locals;
  private volatile long generation = -1;

  /**
   * @param tokens the prompt all examples ask for
   * @param locals hashes of its two blocks as the file has them
   */
  ContractWorld(int[] tokens, long[] locals) {
    this.locals = locals;
    index.store("vllm-1/0/GPU", 0, tokens, BLOCK, 0);
    index.store("pool:store-1/0/CPU", 0, tokens, BLOCK, 0, 1);
    index.store("7/0/GPU", 0, tokens, BLOCK, 0, 1);
  }

  /** From now on its bridge has been heard of, and one batch of its could not be decoded. */
  void hear(long registered) throws Exception {
    generation = registered;
    BridgeProgress progress =
        new BridgeProgress(
            VLLM,
            new TableId("default", "qwen2.5-7b", BLOCK, HashProfile.XXH3_DEFAULT),
            SourceType.VLLM,
            registered,
            (long) LIFE,
            0,
            EVENT,
            MICROS,
            PublisherState.DEGRADED,
            "3 batches lost",
            Map.of("stored", 5L),
            Map.of(),
            List.of(),
            new Connection(true, MICROS, true),
            null,
            null);
    QuarantinedFrame frame =
        new QuarantinedFrame(
            new Incarnation(registered, LIFE, 0),
            EVENT - 1,
            MICROS,
            "not_msgpack",
            1,
            new byte[] {(byte) 0xC1});
    write(Topics.BRIDGE_PROGRESS, BridgeProgressCodec.encode(progress));
    write(Topics.QUARANTINE, QuarantineCodec.encode(frame));
  }

  private static void write(String topic, byte[] value) throws Exception {
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(KAFKA, new ByteArraySerializer(), new ByteArraySerializer())) {
      byte[] key = VLLM.key().getBytes(StandardCharsets.UTF_8);
      producer.send(new ProducerRecord<>(topic, key, value)).get();
    }
  }

  static long generation(JsonNode services) {
    for (JsonNode one : services.path("services")) {
      if (one.path("InstanceID").asText().equals(VLLM.instanceId())) {
        return one.path("Generation").asLong();
      }
    }
    throw new AssertionError("not registered: " + services);
  }

  @Override
  public @Nullable TableView view(TableId table) {
    return index;
  }

  @Override
  public @Nullable String notReadyReason() {
    return null;
  }

  @Override
  public @Nullable StreamPosition position(TableId table, PublisherId publisher) {
    return !publisher.equals(VLLM) || generation < 0
        ? null
        : new StreamPosition(
            new Incarnation(generation, LIFE, 0),
            EventRecord.Position.whole(EVENT),
            100,
            MICROS,
            MICROS / 1_000,
            1,
            false);
  }

  @Override
  public Map<PublisherId, Map<String, Long>> blocks() {
    return Map.of(VLLM, Map.of("GPU", 1L));
  }

  @Override
  public String copy() {
    return "index-1";
  }

  @Override
  public int partitionOf(TableId table) {
    return PARTITION;
  }

  @Override
  public Collection<PartitionView> partitions() {
    return List.of(partition(OWNER.table()));
  }

  private static PartitionDigest digest(Predicate<OwnerIdentity> wanted) {
    OwnerDigest held = new OwnerDigest(OWNER, 1, 0, 0x5EED);
    return new PartitionDigest(
        0, 100, 1, 0, 0xFEED, wanted.test(OWNER) ? List.of(held) : List.of());
  }

  @Override
  @SuppressWarnings("unchecked") // what the interface says
  public PartitionView partition(TableId table) {
    return (PartitionView)
        Proxy.newProxyInstance(
            ContractWorld.class.getClassLoader(),
            new Class<?>[] {PartitionView.class},
            (proxy, method, args) ->
                switch (method.getName()) {
                  case "partition" -> PARTITION;
                  case "isClosed" -> false;
                  case "tables" -> Map.of();
                  case "contexts" -> List.of();
                  case "digest" -> digest((Predicate<OwnerIdentity>) args[0]);
                  case "blocks" ->
                      args[0].equals(OWNER.id())
                          ? List.of(new HeldBlock(ENGINE_HASHES[0], 0, 1, true, locals[0]))
                          : null;
                  case "dump" -> {
                    tell((TableId) args[0], (DumpVisitor) args[2]);
                    yield null;
                  }
                  default ->
                      throw new InvocationTargetException(
                          new UnsupportedOperationException(method.getName()));
                });
  }

  private void tell(TableId table, DumpVisitor visitor) throws IOException {
    if (table.model().equals("llama-3.1-8b")) {
      Owner owner = new Owner("default", "7", 0, 0, "GPU", false, null, new Incarnation(1, 1, 0));
      visitor.run(owner, 0, Parent.ROOT, ENGINE_HASHES, locals, locals.length);
    }
  }
}
