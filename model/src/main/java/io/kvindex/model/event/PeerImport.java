// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.event;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.StreamId;
import io.kvindex.model.TableId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How blocks of a peer's dump stand in the log: in a stream of their own beside the publisher's, in
 * the publisher's generation and before its first life. So they fence nothing of that generation,
 * count until the publisher has said something itself, and are nothing but late after that. Their
 * owners carry {@link #NAME}, so that the publisher's own removals and clears reach them.
 */
public final class PeerImport {

  /**
   * Sub-stream of the records and backend of the owners. No stream of the standard is named so:
   * theirs have slashes.
   */
  public static final String NAME = "peer-import";

  /** Lower than any claimed life. */
  public static final long NO_LIFE = -1;

  private PeerImport() {}

  /** The stream of a publisher's imported blocks. */
  public static StreamId stream(PublisherId publisher) {
    return new StreamId(publisher, NAME);
  }

  /** Whether a record's stream is one of imported blocks. */
  public static boolean isImport(StreamId stream) {
    return stream.sub().equals(NAME);
  }

  /** Whether an owner's blocks were imported. */
  public static boolean isImported(@Nullable String backendId) {
    return NAME.equals(backendId);
  }

  /** Where imported blocks are: a medium of the publisher, told apart from its own. */
  public static Place place(@Nullable String medium, int rank) {
    return new Place(medium, rank, 0, NAME);
  }

  /**
   * A record of imported blocks. They may come in any order and more than once.
   *
   * @param generation of the publisher's registration
   * @param events stores only, at a {@link #place}
   */
  public static EventRecord record(
      TableId table,
      PublisherId publisher,
      SourceType type,
      long generation,
      List<KvEvent> events) {
    return new EventRecord(
        table,
        stream(publisher),
        type,
        SourceTraits.of(CopyPolicy.SET),
        new Incarnation(generation, NO_LIFE, 0),
        EventRecord.Position.whole(0),
        null,
        0,
        events);
  }
}
