// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import io.kvindex.query.lookup.TableView;
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
}
