// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.event;

import io.kvindex.model.event.KvEvent.Begun;
import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.event.KvEvent.Cleared;
import io.kvindex.model.event.KvEvent.Gap;
import io.kvindex.model.event.KvEvent.Origin;
import io.kvindex.model.event.KvEvent.Removed;
import io.kvindex.model.event.KvEvent.Retired;
import io.kvindex.model.event.KvEvent.Retold;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.KvEvent.Taught;
import org.jspecify.annotations.Nullable;

/** Reads what {@link KvEventWriter} wrote. */
final class KvEventReader {

  private KvEventReader() {}

  static KvEvent read(RecordReader in) {
    int kind = in.readByte();
    return switch (kind) {
      case KvEventWriter.STORED -> readStored(in, null);
      case KvEventWriter.STORED_NEW -> readStored(in, Origin.NEW);
      case KvEventWriter.STORED_REUSED -> readStored(in, Origin.REUSED);
      case KvEventWriter.STORED_UNSTATED -> readStored(in, Origin.UNSTATED);
      case KvEventWriter.TAUGHT -> new Taught(readStored(in, null));
      case KvEventWriter.REMOVED -> new Removed(readPlace(in), in.readHashes(), in.readHashes());
      case KvEventWriter.CLEARED -> new Cleared(in.readInt(), in.readEnum(ClearScope.values()));
      case KvEventWriter.GAP -> new Gap(in.readVarint(), in.readVarint());
      case KvEventWriter.RETIRED -> new Retired();
      case KvEventWriter.BEGUN -> new Begun(false);
      case KvEventWriter.BEGUN_TO_RETELL -> new Begun(true);
      case KvEventWriter.RETOLD -> new Retold();
      default -> throw new MalformedRecordException("unknown event kind " + kind);
    };
  }

  /**
   * @param stated null = as the parent implies
   */
  private static Stored readStored(RecordReader in, @Nullable Origin stated) {
    Place place = readPlace(in);
    StatedContext context = readContext(in);
    Parent parent = readParent(in);
    Origin origin = stated == null ? Origin.impliedBy(parent) : stated;
    return new Stored(
        place, context, parent, in.readHashes(), in.readHashes(), in.readHashes(), origin);
  }

  private static Place readPlace(RecordReader in) {
    return new Place(in.readString(), in.readInt(), in.readInt(), in.readString());
  }

  private static StatedContext readContext(RecordReader in) {
    String loraName = in.readString();
    String loraId = in.readString();
    String namespace = in.readString();
    String salt = in.readString();
    if (loraName == null && loraId == null && namespace == null && salt == null) {
      return StatedContext.NONE;
    }
    return new StatedContext(
        loraName, loraId == null ? null : Long.valueOf(loraId), namespace, salt);
  }

  private static Parent readParent(RecordReader in) {
    return switch (in.readEnum(Parent.Kind.values())) {
      case ROOT -> Parent.ROOT;
      case HASH -> Parent.of(in.readLong());
      case UNKNOWN -> Parent.UNKNOWN;
    };
  }
}
