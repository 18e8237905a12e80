// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.model.Incarnation;
import io.kvindex.model.Media;
import io.kvindex.model.Media.Tier;
import io.kvindex.model.chaos.Protection;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.Place;
import io.kvindex.streams.row.OwnerRow;
import io.kvindex.streams.row.PublisherRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.row.TableRow;
import io.kvindex.streams.sequence.Sequencer;
import io.kvindex.streams.table.OwnerState;
import io.kvindex.streams.table.PartitionTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Turns the events of one record into row changes. For the thread that owns the task. */
final class Applier implements KvEvent.Visitor {

  private final PartitionTable table;
  private final RowBatch batch;
  private final Storing storing;
  private final Counts counts;
  private final Media media = Media.standard();
  private @Nullable EventRecord record;
  private int tableRef;
  private int publisherRef;
  private long gaps;

  Applier(PartitionTable table, RowBatch batch, Storing storing, Counts counts) {
    this.table = table;
    this.batch = batch;
    this.storing = storing;
    this.counts = counts;
  }

  /**
   * Applies a record whose turn it is.
   *
   * @param gapsBefore holes of the stream so far
   * @return holes of the stream after it
   */
  long apply(EventRecord next, long gapsBefore) {
    record = next;
    gaps = gapsBefore;
    tableRef = tableRef(next);
    publisherRef = publisherRef(next);
    next.events().forEach(event -> event.accept(this));
    return gaps;
  }

  /** Starts a life: whatever older ones announced is dead from here on. */
  void beginLife(EventRecord first) {
    int ref = publisherRef(first);
    PublisherRow known = table.publishers().get(ref);
    if (Sequencer.compareLives(first.incarnation(), known.life()) > 0) {
      if (!Protection.FENCING.isOff()) {
        killAll(ref);
      }
      batch.put(RowKeys.ofId(RowKind.PUBLISHER, ref), known.reborn(first.incarnation()).encode());
    }
  }

  /** The newest life of the record's publisher, that of the record if it is not known yet. */
  Incarnation life(EventRecord next) {
    Integer ref = table.publishers().ref(next.stream().publisher());
    return ref == null ? next.incarnation() : table.publishers().get(ref).life();
  }

  private EventRecord current() {
    return Objects.requireNonNull(record);
  }

  private int tableRef(EventRecord next) {
    Integer known = table.tables().tableRef(next.table());
    if (known != null) {
      return known;
    }
    int ref = table.tables().nextTable();
    batch.put(RowKeys.ofId(RowKind.TABLE, ref), new TableRow(next.table()).encode());
    return ref;
  }

  private int publisherRef(EventRecord next) {
    Integer known = table.publishers().ref(next.stream().publisher());
    if (known != null) {
      return known;
    }
    int ref = table.publishers().next();
    PublisherRow row =
        new PublisherRow(next.stream().publisher(), Incarnation.NONE, 0).reborn(next.incarnation());
    batch.put(RowKeys.ofId(RowKind.PUBLISHER, ref), row.encode());
    return ref;
  }

  @Override
  public void stored(KvEvent.Stored event) {
    Place place = event.place();
    PublisherRow publisher = table.publishers().get(publisherRef);
    if (place.group() >= PublisherRow.MAX_GROUPS) {
      counts.add(Outcome.GROUP_LIMIT, event.engineHashes().size());
      return;
    }
    if (!publisher.knowsGroup(place.group())) {
      batch.put(
          RowKeys.ofId(RowKind.PUBLISHER, publisherRef),
          publisher.withGroup(place.group()).encode());
    }
    OwnerState owner = owner(place);
    storing.store(current(), event, owner, tableRef, publisherRef);
    counts.add(Outcome.BLOCKS_STORED, event.engineHashes().size());
  }

  @Override
  public void taught(KvEvent.Taught event) {
    storing.store(current(), event.blocks(), null, tableRef, publisherRef);
  }

  private OwnerState owner(Place place) {
    for (OwnerState owner : table.owners().live(publisherRef)) {
      OwnerRow row = owner.row();
      if (row.tableRef() == tableRef
          && row.rank() == place.rank()
          && Objects.equals(row.medium(), place.medium())
          && Objects.equals(row.backendId(), place.backendId())) {
        return owner;
      }
    }
    int id = table.owners().next();
    OwnerRow row =
        new OwnerRow(
            tableRef,
            publisherRef,
            place.rank(),
            place.medium(),
            place.backendId(),
            current().type().isPool(),
            table.publishers().get(publisherRef).life(),
            false);
    batch.put(RowKeys.ofId(RowKind.OWNER, id), row.encode());
    return Objects.requireNonNull(table.owners().byId(id));
  }

  @Override
  public void removed(KvEvent.Removed event) {
    List<OwnerState> owners = addressed(event.place());
    Hashes hashes = event.engineHashes();
    for (int i = 0; i < hashes.size(); i++) {
      boolean there = false;
      for (OwnerState owner : owners) {
        BlockChange change = batch.blocks().of(owner, hashes.get(i), event.place().group());
        there |=
            event.remainingCopies().size() > i
                ? change.remain(event.remainingCopies().get(i))
                : change.remove(current().traits().copies());
      }
      counts.add(there ? Outcome.BLOCKS_REMOVED : Outcome.REMOVED_UNKNOWN);
    }
  }

  /** Owners a removal speaks of: one medium, else the device tier, else for a pool all of it. */
  private List<OwnerState> addressed(Place place) {
    List<OwnerState> found = new ArrayList<>();
    for (OwnerState owner : table.owners().live(publisherRef)) {
      OwnerRow row = owner.row();
      boolean medium =
          place.medium() != null
              ? place.medium().equals(row.medium())
              : row.pool() || media.tier(row.medium()) == Tier.DEVICE;
      boolean backend = place.backendId() == null || place.backendId().equals(row.backendId());
      if (medium && backend && (row.pool() || row.rank() == place.rank())) {
        found.add(owner);
      }
    }
    return found;
  }

  @Override
  public void cleared(KvEvent.Cleared event) {
    for (OwnerState owner : List.copyOf(table.owners().live(publisherRef))) {
      if (covers(event, owner.row())) {
        kill(owner);
      }
    }
    PublisherRow publisher = table.publishers().get(publisherRef);
    batch.put(RowKeys.ofId(RowKind.PUBLISHER, publisherRef), publisher.cleared().encode());
    if (table.owners().live(publisherRef).isEmpty()) {
      // What was missed spoke of blocks that are all gone now.
      gaps = 0;
    }
  }

  private boolean covers(KvEvent.Cleared event, OwnerRow owner) {
    Tier tier = media.tier(owner.medium());
    return switch (event.scope()) {
      case ALL -> true;
      case STREAM -> current().stream().sub().equals(owner.backendId());
      case DEVICE -> owner.rank() == event.rank() && tier == Tier.DEVICE;
      case DEVICE_AND_HOST ->
          owner.rank() == event.rank() && (tier == Tier.DEVICE || tier == Tier.HOST);
    };
  }

  @Override
  public void gap(KvEvent.Gap event) {
    gaps++;
    counts.add(Outcome.GAP);
  }

  @Override
  public void retired(KvEvent.Retired event) {
    killAll(publisherRef);
    gaps = 0;
  }

  @Override
  public void begun(KvEvent.Begun event) {
    // Its life was begun with its record.
  }

  private void killAll(int ref) {
    List.copyOf(table.owners().live(ref)).forEach(this::kill);
  }

  /** From here on the owner is in no answer; its rows go bit by bit. */
  private void kill(OwnerState owner) {
    batch.put(RowKeys.ofId(RowKind.OWNER, owner.id()), owner.row().died().encode());
  }
}
