// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.event;

import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.event.KvEvent.Cleared;
import io.kvindex.model.event.KvEvent.Gap;
import io.kvindex.model.event.KvEvent.Removed;
import io.kvindex.model.event.KvEvent.Retired;
import io.kvindex.model.event.KvEvent.Stored;

/** Reads what {@link KvEventWriter} wrote. */
final class KvEventReader {

  private KvEventReader() {}

  static KvEvent read(RecordReader in) {
    int kind = in.readByte();
    switch (kind) {
      case KvEventWriter.STORED:
        return new Stored(
            readPlace(in),
            readContext(in),
            readParent(in),
            in.readHashes(),
            in.readHashes(),
            in.readHashes());
      case KvEventWriter.REMOVED:
        return new Removed(readPlace(in), in.readHashes(), in.readHashes());
      case KvEventWriter.CLEARED:
        return new Cleared(in.readInt(), in.readEnum(ClearScope.values()));
      case KvEventWriter.GAP:
        return new Gap(in.readVarint(), in.readVarint());
      case KvEventWriter.RETIRED:
        return new Retired();
      default:
        throw new MalformedRecordException("unknown event kind " + kind);
    }
  }

  private static Place readPlace(RecordReader in) {
    return new Place(in.readString(), in.readInt(), in.readInt(), in.readString());
  }

  private static StatedContext readContext(RecordReader in) {
    String loraName = in.readString();
    String loraId = in.readString();
    return new StatedContext(
        loraName,
        loraId == null ? null : Integer.valueOf(loraId),
        in.readString(),
        in.readString());
  }

  private static Parent readParent(RecordReader in) {
    Parent.Kind kind = in.readEnum(Parent.Kind.values());
    switch (kind) {
      case ROOT:
        return Parent.ROOT;
      case HASH:
        return Parent.of(in.readLong());
      default:
        return Parent.UNKNOWN;
    }
  }
}
