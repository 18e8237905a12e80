// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.replica;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.event.RecordJson;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What a replica says of itself in {@code kvindex.replicas}: JSON under its address. Unknown
 * members are ignored.
 *
 * @param partitions those it has a table of
 */
public record ReplicaRecord(ReplicaId id, SortedSet<Integer> partitions) {

  /** Newest version written. */
  static final int VERSION = 1;

  /** Longest address or name that is taken, characters. */
  private static final int LONGEST = 300;

  public ReplicaRecord {
    partitions = Collections.unmodifiableSortedSet(new TreeSet<>(partitions));
  }

  private record Wire(
      @JsonProperty("v") int version,
      @JsonProperty("copy") String copy,
      @JsonProperty("partitions") List<Integer> partitions,
      @JsonProperty("version") @Nullable String program) {}

  /** The Kafka key. */
  static byte[] key(String address) {
    return address.getBytes(StandardCharsets.UTF_8);
  }

  /** The address a key names. */
  static String address(byte[] key) {
    return new String(key, StandardCharsets.UTF_8);
  }

  /** The bytes to send. */
  byte[] encode() {
    return RecordJson.encode(new Wire(VERSION, id.copy(), List.copyOf(partitions), id.version()));
  }

  /**
   * Reads one back.
   *
   * @throws MalformedRecordException if it is none
   */
  static ReplicaRecord decode(byte @Nullable [] key, byte[] value) {
    return RecordJson.decode(value, Wire.class, wire -> of(key, wire), "no replica");
  }

  private static ReplicaRecord of(byte @Nullable [] key, Wire wire) {
    if (key == null || key.length == 0 || key.length > LONGEST || wire.copy().length() > LONGEST) {
      throw new MalformedRecordException("no address, or one or a name that is too long");
    }
    String version = wire.program() == null ? "" : wire.program();
    return new ReplicaRecord(
        new ReplicaId(address(key), wire.copy(), version), new TreeSet<>(wire.partitions()));
  }
}
