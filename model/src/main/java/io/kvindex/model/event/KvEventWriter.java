// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.event;

import io.kvindex.model.event.KvEvent.Begun;
import io.kvindex.model.event.KvEvent.Cleared;
import io.kvindex.model.event.KvEvent.Gap;
import io.kvindex.model.event.KvEvent.Origin;
import io.kvindex.model.event.KvEvent.Removed;
import io.kvindex.model.event.KvEvent.Retired;
import io.kvindex.model.event.KvEvent.Retold;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.KvEvent.Taught;

/** Writes single events: a kind byte, then the members in order of declaration. */
final class KvEventWriter implements KvEvent.Visitor {

  static final int STORED = 1;
  static final int REMOVED = 2;
  static final int CLEARED = 3;
  static final int GAP = 4;
  static final int RETIRED = 5;
  static final int BEGUN = 6;
  static final int TAUGHT = 7;
  static final int BEGUN_TO_RETELL = 8;
  static final int RETOLD = 9;

  // Stored, where the origin is another one than the parent implies.
  static final int STORED_NEW = 10;
  static final int STORED_REUSED = 11;
  static final int STORED_UNSTATED = 12;

  private final RecordWriter out;

  KvEventWriter(RecordWriter out) {
    this.out = out;
  }

  @Override
  public void stored(Stored event) {
    out.writeByte(storedKind(event));
    writeStored(event);
  }

  private static int storedKind(Stored event) {
    if (event.origin() == Origin.impliedBy(event.parent())) {
      return STORED;
    }
    return switch (event.origin()) {
      case NEW -> STORED_NEW;
      case REUSED -> STORED_REUSED;
      case UNSTATED -> STORED_UNSTATED;
    };
  }

  @Override
  public void taught(Taught event) {
    out.writeByte(TAUGHT);
    writeStored(event.blocks());
  }

  private void writeStored(Stored event) {
    writePlace(event.place());
    writeContext(event.context());
    out.writeByte(event.parent().kind().ordinal());
    if (event.parent().kind() == Parent.Kind.HASH) {
      out.writeLong(event.parent().hash());
    }
    out.writeHashes(event.engineHashes());
    out.writeHashes(event.localHashes());
    out.writeHashes(event.extraHashes());
  }

  @Override
  public void removed(Removed event) {
    out.writeByte(REMOVED);
    writePlace(event.place());
    out.writeHashes(event.engineHashes());
    out.writeHashes(event.remainingCopies());
  }

  @Override
  public void cleared(Cleared event) {
    out.writeByte(CLEARED);
    out.writeVarint(event.rank());
    out.writeByte(event.scope().ordinal());
  }

  @Override
  public void gap(Gap event) {
    out.writeByte(GAP);
    out.writeVarint(event.from());
    out.writeVarint(event.to());
  }

  @Override
  public void begun(Begun event) {
    out.writeByte(event.retells() ? BEGUN_TO_RETELL : BEGUN);
  }

  @Override
  public void retold(Retold event) {
    out.writeByte(RETOLD);
  }

  @Override
  public void retired(Retired event) {
    out.writeByte(RETIRED);
  }

  private void writePlace(Place place) {
    out.writeString(place.medium());
    out.writeVarint(place.rank());
    out.writeVarint(place.group());
    out.writeString(place.backendId());
  }

  private void writeContext(StatedContext context) {
    Long loraId = context.loraId();
    out.writeString(context.loraName());
    out.writeString(loraId == null ? null : Long.toString(loraId));
    out.writeString(context.namespace());
    out.writeString(context.salt());
  }
}
