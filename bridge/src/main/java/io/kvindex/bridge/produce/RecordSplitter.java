// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.produce;

import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.KvEvent.Removed;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.KvEvent.Taught;
import io.kvindex.model.event.Parent;
import java.util.ArrayList;
import java.util.List;

/**
 * Cuts the events of a large batch into parts that fit a Kafka record; an event that is too large
 * by itself is cut too, its later pieces naming the last block of the piece before as their parent.
 */
public final class RecordSplitter {

  /** Generous bound of an event without its hashes; names are bounded by what engines send. */
  private static final int EVENT_BYTES = 96;

  private final int maxBytes;

  /**
   * @param maxBytes bound of a part's encoded events, about; at least a few hundred
   */
  public RecordSplitter(int maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** The parts, in order; one (maybe empty) part at least. */
  public List<List<KvEvent>> split(List<KvEvent> events) {
    List<List<KvEvent>> parts = new ArrayList<>();
    List<KvEvent> part = new ArrayList<>();
    long bytes = 0;
    for (KvEvent event : events) {
      for (KvEvent piece : pieces(event)) {
        long size = size(piece);
        if (bytes + size > maxBytes && !part.isEmpty()) {
          parts.add(part);
          part = new ArrayList<>();
          bytes = 0;
        }
        part.add(piece);
        bytes += size;
      }
    }
    parts.add(part);
    return parts;
  }

  private List<KvEvent> pieces(KvEvent event) {
    if (size(event) <= maxBytes) {
      return List.of(event);
    }
    List<KvEvent> pieces = new ArrayList<>();
    if (event instanceof Taught taught) {
      pieces(taught.blocks()).forEach(piece -> pieces.add(new Taught((Stored) piece)));
    } else if (event instanceof Stored stored) {
      int step = Math.max(1, (maxBytes - EVENT_BYTES) / (3 * Long.BYTES));
      for (int from = 0; from < stored.engineHashes().size(); from += step) {
        pieces.add(piece(stored, from, Math.min(from + step, stored.engineHashes().size())));
      }
    } else if (event instanceof Removed removed) {
      int step = Math.max(1, (maxBytes - EVENT_BYTES) / (2 * Long.BYTES));
      for (int from = 0; from < removed.engineHashes().size(); from += step) {
        int to = Math.min(from + step, removed.engineHashes().size());
        pieces.add(
            new Removed(
                removed.place(),
                removed.engineHashes().slice(from, to),
                slice(removed.remainingCopies(), from, to)));
      }
    } else {
      pieces.add(event);
    }
    return pieces;
  }

  private static Stored piece(Stored whole, int from, int to) {
    Parent parent = from == 0 ? whole.parent() : Parent.of(whole.engineHashes().get(from - 1));
    return new Stored(
        whole.place(),
        whole.context(),
        parent,
        whole.engineHashes().slice(from, to),
        slice(whole.localHashes(), from, to),
        slice(whole.extraHashes(), from, to));
  }

  private static Hashes slice(Hashes hashes, int from, int to) {
    return hashes.isEmpty() ? hashes : hashes.slice(from, to);
  }

  private static long size(KvEvent event) {
    long hashes = 0;
    if (event instanceof Taught taught) {
      return size(taught.blocks());
    } else if (event instanceof Stored stored) {
      hashes =
          (long) stored.engineHashes().size()
              + stored.localHashes().size()
              + stored.extraHashes().size();
    } else if (event instanceof Removed removed) {
      hashes = (long) removed.engineHashes().size() + removed.remainingCopies().size();
    }
    return EVENT_BYTES + hashes * Long.BYTES;
  }
}
