// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.lookup.Walk;
import io.kvindex.streams.view.ContextNames;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What some forms of queries have to know of a table beside its blocks:
 *
 * <pre>
 * byte     version
 * trust    as in a {@link WalkAnswer}
 * varint   blocks
 * varint   contexts; of each: 8 bytes hash, adapter, namespace and salt
 * varint   adapter names asked for; of each: instance and name
 * </pre>
 *
 * @param told how far to trust it
 * @param blocks blocks queries can find
 * @param contexts contexts that were announced
 * @param loraNames by instance, names of the adapter id that was asked for
 */
record TableNames(
    Told told, long blocks, List<ContextNames> contexts, Map<String, String> loraNames) {

  TableNames {
    contexts = List.copyOf(contexts);
    loraNames = Map.copyOf(loraNames);
  }

  /** What this replica knows of a table. */
  static TableNames of(TableView view, NamesRequest request) {
    return new TableNames(
        Told.of(view), view.blockCount(), List.copyOf(view.contexts()), request.adapters(view));
  }

  byte[] encode() {
    RecordWriter out = new RecordWriter(256);
    out.writeByte(WalkAnswer.VERSION);
    told.write(out);
    out.writeVarint(blocks);
    out.writeVarint(contexts.size());
    for (ContextNames context : contexts) {
      out.writeLong(context.hash());
      out.writeString(context.loraName());
      out.writeString(context.namespace());
      out.writeString(context.salt());
    }
    out.writeVarint(loraNames.size());
    loraNames.forEach(
        (instance, name) -> {
          out.writeString(instance);
          out.writeString(name);
        });
    return out.toByteArray();
  }

  static TableNames decode(byte[] bytes) {
    RecordReader in = new RecordReader(bytes);
    WalkAnswer.requireVersion(in);
    Told told = Told.read(in);
    long blocks = in.readVarint();
    List<ContextNames> contexts = new ArrayList<>();
    for (int left = in.readCount(); left > 0; left--) {
      contexts.add(
          new ContextNames(in.readLong(), in.readString(), in.readString(), in.readString()));
    }
    Map<String, String> names = new HashMap<>();
    for (int left = in.readCount(); left > 0; left--) {
      names.put(in.readRequiredString(), in.readRequiredString());
    }
    in.requireEnd();
    return new TableNames(told, blocks, contexts, names);
  }

  /**
   * Asks for {@link TableNames}: byte version, the table as in event records, the adapter id whose
   * names are wanted (zigzag, -1 = none), varint instances and each instance they are wanted of,
   * and where it is not {@link Walk#ANY} the offset of the events that must be visible (zigzag).
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
}
