// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.lookup.Walk;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Asks for {@link TableNames}: byte version, the table as in event records, the adapter id whose
 * names are wanted (zigzag, -1 = none), varint instances and each instance they are wanted of, and
 * where it is not {@link Walk#ANY} the offset of the events that must be visible (zigzag).
 *
 * @param notBefore as {@link Walk#notBefore}
 * @param instances empty where no adapter is asked for
 */
record NamesRequest(TableId table, long notBefore, long loraId, List<String> instances) {
  private static final long NO_ADAPTER = -1;

  NamesRequest {
    instances = List.copyOf(instances);
  }

  /** What does not depend on an adapter. */
  static NamesRequest of(TableId table) {
    return new NamesRequest(table, Walk.ANY, NO_ADAPTER, List.of());
  }

  /** The same of a table that shows an offset of the events. */
  NamesRequest from(long offset) {
    return new NamesRequest(table, offset, loraId, instances);
  }

  /** Adapter names, where they are asked for. */
  Map<String, String> adapters(TableView view) {
    return loraId < 0 ? Map.of() : view.loraNames(loraId, instances);
  }

  byte[] encode() {
    RecordWriter out = new RecordWriter(128);
    out.writeByte(WalkRequest.VERSION);
    EventRecordCodec.writeTable(out, table);
    out.writeZigZag(loraId);
    out.writeVarint(instances.size());
    instances.forEach(out::writeString);
    if (notBefore != Walk.ANY) { // who does not know it refuses, and another one is asked
      out.writeZigZag(notBefore);
    }
    return out.toByteArray();
  }

  static NamesRequest decode(byte[] bytes) {
    RecordReader in = new RecordReader(bytes);
    WalkRequest.requireVersion(in);
    TableId table = EventRecordCodec.readTable(in);
    long loraId = in.readZigZag();
    List<String> instances = new ArrayList<>();
    for (int left = in.readCount(); left > 0; left--) {
      instances.add(in.readRequiredString());
    }
    long notBefore = in.atEnd() ? Walk.ANY : in.readZigZag();
    in.requireEnd();
    return new NamesRequest(table, notBefore, loraId, instances);
  }
}
