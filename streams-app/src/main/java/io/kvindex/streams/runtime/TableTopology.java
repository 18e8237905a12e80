// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import java.util.function.ObjLongConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;

/** {@code the log -> fold -> the process's tables}, the same for production and tests. */
public final class TableTopology {

  /** Name of the store, for queries. */
  public static final String STORE = "table";

  private TableTopology() {}

  /**
   * Makes it.
   *
   * @param topic the log
   * @param seek {@link SeekingClients#seek}, of the clients Kafka Streams is made with
   * @param begins {@link LogWatch#taskBegins}; told of each task that begins
   */
  public static Topology of(
      String topic, ProcessTables tables, ObjLongConsumer<TopicPartition> seek, Runnable begins) {
    ProcessorSupplier<byte[], byte[], Void, Void> folds =
        () -> new FoldProcessor(topic, tables, seek, begins);
    return new Topology()
        .addSource("log", new ByteArrayDeserializer(), new ByteArrayDeserializer(), topic)
        .addProcessor("fold", folds, "log")
        .addStateStore(new TableStore.Builder(topic, tables), "fold");
  }
}
