// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.produce;

import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.KvEvent.Removed;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.KvEvent.Taught;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.StatedContext;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Cuts the events of a large batch into parts that fit a Kafka record; an event that is too large
 * by itself is cut too, its later pieces naming the last block of the piece before as their parent.
 */
public final class RecordSplitter {

  /** Generous bound of an event without its hashes and names. */
  private static final int EVENT_BYTES = 96;

  /** UTF-8 takes no more for a char. */
  private static final int BYTES_PER_CHAR = 3;

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
      int step = Math.max(1, (maxBytes - fixed(event)) / (3 * Long.BYTES));
      for (int from = 0; from < stored.engineHashes().size(); from += step) {
        pieces.add(piece(stored, from, Math.min(from + step, stored.engineHashes().size())));
      }
    } else if (event instanceof Removed removed) {
      int step = Math.max(1, (maxBytes - fixed(event)) / (2 * Long.BYTES));
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
        slice(whole.extraHashes(), from, to),
        whole.origin()); // a piece behind the first has a parent, which says nothing of its origin
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
    return fixed(event) + hashes * Long.BYTES;
  }

  /** What a piece of the event takes besides hashes: bounded, as decoders bound names. */
  private static int fixed(KvEvent event) {
    int chars = 0;
    if (event instanceof Stored stored) {
      StatedContext context = stored.context();
      chars =
          chars(stored.place())
              + chars(context.loraName())
              + chars(context.namespace())
              + chars(context.salt());
    } else if (event instanceof Removed removed) {
      chars = chars(removed.place());
    }
    return EVENT_BYTES + BYTES_PER_CHAR * chars;
  }

  private static int chars(Place place) {
    return chars(place.medium()) + chars(place.backendId());
  }

  private static int chars(@Nullable String text) {
    return text == null ? 0 : text.length();
  }
}
