// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineEvent;
import io.kvindex.bridge.decode.SkipReason;
import io.kvindex.bridge.decode.StoreObject;
import io.kvindex.bridge.decode.TokenIds.Fit;
import io.kvindex.bridge.keys.ObjectKey;
import io.kvindex.bridge.keys.ObjectKeys;
import io.kvindex.bridge.keys.ShardNumber;
import io.kvindex.model.PublisherId;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.StatedContext;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One batch of a store on its way to the normal form. A store knows objects, not prompts: the block
 * is in the key, and what it means others have told or will tell, so no parent is ever taken for
 * the start of a prompt. A removal means that the object is gone from every medium, unless the
 * registration or the stream says that it is of one; a clear is of one tenant where it names one.
 * For one thread, used once.
 */
final class StoreNormaliser {

  private final Normaliser facts;
  private final StoreFacts store;
  private final EngineBatch batch;
  private final int rank;
  private final List<KvEvent> events;
  private final Map<SkipReason, Integer> skipped = new EnumMap<>(SkipReason.class);
  private final Map<Remark, Integer> remarks = new EnumMap<>(Remark.class);

  /**
   * Whether an object went, or moved, that may have been stored under a hash not known any more.
   */
  private boolean forgotten;

  StoreNormaliser(Normaliser facts, StoreFacts store, EngineBatch batch) {
    this.facts = facts;
    this.store = store;
    this.batch = batch;
    Integer stated = batch.rank();
    this.rank = stated == null ? facts.defaultRank() : stated;
    this.events = new ArrayList<>(batch.events().size());
  }

  NormalisedBatch run() {
    batch.skipped().forEach(skip -> count(skip.reason()));
    for (EngineEvent event : batch.events()) {
      SkipReason reason =
          event instanceof EngineEvent.OfObject about
              ? about.event() instanceof EngineEvent.Cleared
                  ? clear(about.object())
                  : add(about.object(), about.event())
              : clear(StoreObject.NONE);
      if (reason != null) {
        count(reason);
      }
    }
    return new NormalisedBatch(
        batch.timestampMicros(),
        events,
        skipped,
        remarks,
        facts.learned().sizes().problem(),
        List.of(),
        forgotten || batch.isDoubtful());
  }

  private @Nullable SkipReason clear(StoreObject named) {
    SkipReason foreign = reasonToSkip(named);
    if (foreign != null) {
      return foreign;
    }
    store.keys().forgetAll();
    events.add(new KvEvent.Cleared(rank, ClearScope.ALL));
    return null;
  }

  private @Nullable SkipReason add(StoreObject object, EngineEvent event) {
    SkipReason foreign = reasonToSkip(object);
    if (foreign != null) {
      return foreign;
    }
    Hashes stated =
        event instanceof EngineEvent.Stored stored
            ? stored.hashes()
            : event instanceof EngineEvent.Removed removed ? removed.hashes() : Hashes.EMPTY;
    ObjectKey key = read(object.key(), stated);
    if (key == null) {
      forgotten |= !(event instanceof EngineEvent.Stored) && store.mayHaveForgotten(object);
      return object.key() == null ? SkipReason.NO_HASHES : SkipReason.UNPARSED_KEY;
    } else if (key.use() != ObjectKey.Use.BLOCK) {
      return key.use() == ObjectKey.Use.OTHER_MODEL
          ? SkipReason.OTHER_MODEL
          : SkipReason.ATTENTION_GROUP;
    }
    ShardNumber shards = store.shards();
    int shard = shards.isIndexed(key) ? shards.of(key) : ShardNumber.MISFIT;
    if (shard == ShardNumber.MISFIT) {
      return shards.isIndexed(key) ? SkipReason.SHARD_MISMATCH : SkipReason.ATTENTION_GROUP;
    }
    Hashes hashes = stated.isEmpty() ? Hashes.of(key.hash()) : stated;
    if (event instanceof EngineEvent.Stored one) {
      return addStored(object, one, hashes, shard, key);
    }
    return object.addresses() == null || object.addresses().isEmpty()
        ? addRemoved(object, event, hashes, shard)
        : addMove(object, hashes, shard, key);
  }

  private @Nullable SkipReason reasonToSkip(StoreObject object) {
    String tenant = object.tenant();
    String model = object.model();
    boolean foreign =
        tenant != null
            && !tenant.isEmpty()
            && !tenant.equals(PublisherId.DEFAULT_TENANT)
            && !tenant.equals(store.registration().table().tenantId());
    if (foreign) {
      return SkipReason.OTHER_TENANT;
    }
    boolean other =
        model != null
            && !model.isEmpty()
            && !ObjectKeys.sameModel(model, store.registration().table().model());
    return other ? SkipReason.OTHER_MODEL : null;
  }

  /** What is known of an object, null = which block it holds is not. */
  private @Nullable ObjectKey read(@Nullable String text, Hashes stated) {
    if (text == null) {
      return stated.isEmpty() ? null : ObjectKey.whole(stated.get(0));
    }
    ObjectKey key = ObjectKeys.parse(text, store.registration().table().model());
    boolean tells = key != null && (stated.size() != 1 || key.hash() == stated.get(0));
    if (!tells && stated.size() == 1 && (key == null || key.use() == ObjectKey.Use.BLOCK)) {
      store.keys().learn(text, stated.get(0));
    }
    if (stated.isEmpty()) {
      Long learnt = store.keys().hash(text);
      return learnt == null ? key : key == null ? ObjectKey.whole(learnt) : key.withHash(learnt);
    }
    return key == null ? ObjectKey.whole(stated.get(0)) : key;
  }

  private @Nullable SkipReason addStored(
      StoreObject object, EngineEvent.Stored stored, Hashes hashes, int shard, ObjectKey key) {
    int size = stored.blockSize();
    if (size != 0 && size != facts.blockSize()) {
      facts.learned().sizes().differsInPart(stored.scope().medium(), size);
      return SkipReason.BLOCK_SIZE_MISMATCH;
    } else if (size != 0) {
      facts.learned().sizes().fits();
    }
    if (stored.tokens().fit() == Fit.UNUSABLE) {
      remark(Remark.TOKENS_UNUSABLE);
    }
    Long named = stored.parent();
    Parent parent = named == null || named == 0 ? Parent.UNKNOWN : Parent.of(named);
    StatedContext context = facts.contexts().of(stored.adapter(), stored.salt());
    Hashes locals = facts.isEngineNamed() ? Hashes.EMPTY : facts.locals(stored, context);
    KvEvent.Stored first =
        new KvEvent.Stored(
            new Place(stored.scope().medium(), rank, shard, object.backendId()),
            context,
            parent,
            hashes,
            locals.size() == hashes.size() ? locals : Hashes.EMPTY,
            Hashes.EMPTY);
    remarkOn(key);
    store.stored(nameOf(object, hashes));
    List<String> addresses = object.addresses();
    if (addresses == null) {
      events.add(first);
    } else {
      addAt(addresses, first);
    }
    return null;
  }

  private @Nullable SkipReason addRemoved(
      StoreObject object, EngineEvent event, Hashes hashes, int shard) {
    String medium = event instanceof EngineEvent.Removed gone ? gone.scope().medium() : null;
    boolean ofOne =
        medium != null && !medium.isEmpty() && store.isOfOneMedium(nameOf(object, hashes), medium);
    events.add(
        new KvEvent.Removed(
            new Place(ofOne ? medium : null, rank, shard, object.backendId()),
            hashes,
            Hashes.EMPTY));
    // Elsewhere it is still there, and what removes it from there may name the key alone.
    if (!ofOne && object.key() != null) {
      store.keys().forget(object.key());
    }
    return null;
  }

  private static String nameOf(StoreObject object, Hashes hashes) {
    String key = object.key();
    return key == null ? Long.toHexString(hashes.get(0)) : key;
  }

  /** An object is at other addresses now. */
  private @Nullable SkipReason addMove(
      StoreObject object, Hashes hashes, int shard, ObjectKey key) {
    Place everywhere = new Place(null, rank, shard, object.backendId());
    List<String> addresses = object.addresses() == null ? List.of() : object.addresses();
    remarkOn(key);
    addAt(
        addresses,
        new KvEvent.Stored(
            everywhere,
            facts.contexts().of(EngineEvent.Adapter.NONE, null),
            Parent.UNKNOWN,
            hashes,
            Hashes.EMPTY,
            Hashes.EMPTY));
    return null;
  }

  /** Stored on the media of its addresses, and on no other. */
  private void addAt(List<String> addresses, KvEvent.Stored block) {
    Set<String> media = store.media().of(addresses);
    for (String medium : media) {
      events.add(
          new KvEvent.Stored(
              at(medium, block.place()),
              block.context(),
              block.parent(),
              block.engineHashes(),
              block.localHashes(),
              block.extraHashes()));
    }
    for (String medium : store.media().all()) {
      if (!media.contains(medium)) {
        events.add(
            new KvEvent.Removed(at(medium, block.place()), block.engineHashes(), Hashes.EMPTY));
      }
    }
  }

  private static Place at(String medium, Place place) {
    return new Place(medium, place.rank(), place.group(), place.backendId());
  }

  /** What of a stored object's place in its block is only guessed. */
  private void remarkOn(ObjectKey key) {
    if (store.shards().isGuess(key)) {
      remark(Remark.UNVERIFIED_SHARDS);
    }
    if (store.shards().isGroupGuess(key)) {
      remark(Remark.UNVERIFIED_GROUP);
    }
  }

  private void remark(Remark remark) {
    remarks.merge(remark, 1, Integer::sum);
  }

  private void count(SkipReason reason) {
    skipped.merge(reason, 1, Integer::sum);
  }
}
