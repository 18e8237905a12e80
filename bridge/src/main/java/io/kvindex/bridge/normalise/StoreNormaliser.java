// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

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
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.RemovalScope;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a store sends, on its way to the normal form. A store knows objects, not prompts: the block
 * is in the key, and what it means others have told or will tell, so no parent is ever taken for
 * the start of a prompt. A removal means that the object is gone from every medium, unless the
 * registration or the stream says that it is of one; a clear is of one tenant where it names one.
 * For one thread.
 */
final class StoreNormaliser extends Normaliser {

  private final AddressMedia addressMedia;
  private final ShardNumber shards;

  StoreNormaliser(Registration registration, Learned learned) {
    super(registration, learned);
    addressMedia = new AddressMedia(registration.options().addressTiers());
    shards = new ShardNumber(registration.options().shards(), registration.options().poolGroups());
  }

  @Override
  @Nullable SkipReason take(EngineEvent event, int place) {
    if (event instanceof EngineEvent.OfObject about) {
      return about.event() instanceof EngineEvent.Cleared
          ? clear(about.object())
          : take(about.object(), about.event());
    }
    return clear(StoreObject.NONE);
  }

  private @Nullable SkipReason clear(StoreObject named) {
    SkipReason foreign = reasonToSkip(named);
    if (foreign != null) {
      return foreign;
    }
    learned.names().forgetAll();
    add(new KvEvent.Cleared(rank(), ClearScope.ALL));
    return null;
  }

  private @Nullable SkipReason take(StoreObject object, EngineEvent event) {
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
      if (!(event instanceof EngineEvent.Stored) && mayHaveForgotten(object)) {
        doubt(); // it went, or moved, and may have been stored under a hash not known any more
      }
      return object.key() == null ? SkipReason.NO_HASHES : SkipReason.UNPARSED_KEY;
    } else if (key.use() != ObjectKey.Use.BLOCK) {
      return key.use() == ObjectKey.Use.OTHER_MODEL
          ? SkipReason.OTHER_MODEL
          : SkipReason.ATTENTION_GROUP;
    }
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
        !isEmpty(tenant)
            && !PublisherId.DEFAULT_TENANT.equals(tenant)
            && !registration.table().tenantId().equals(tenant);
    if (foreign) {
      return SkipReason.OTHER_TENANT;
    }
    boolean other =
        model != null
            && !model.isEmpty()
            && !ObjectKeys.sameModel(model, registration.table().model());
    return other ? SkipReason.OTHER_MODEL : null;
  }

  /** What is known of an object, null = which block it holds is not. */
  private @Nullable ObjectKey read(@Nullable String text, Hashes stated) {
    if (text == null) {
      return stated.isEmpty() ? null : ObjectKey.whole(stated.get(0));
    }
    ObjectKey key = ObjectKeys.parse(text, registration.table().model());
    boolean tells = key != null && (stated.size() != 1 || key.hash() == stated.get(0));
    if (!tells && stated.size() == 1 && (key == null || key.use() == ObjectKey.Use.BLOCK)) {
      learned.names().learn(text, stated.get(0));
    }
    if (stated.isEmpty()) {
      Long learnt = learned.names().hash(text);
      return learnt == null ? key : key == null ? ObjectKey.whole(learnt) : key.withHash(learnt);
    }
    return key == null ? ObjectKey.whole(stated.get(0)) : key;
  }

  private @Nullable SkipReason addStored(
      StoreObject object, EngineEvent.Stored stored, Hashes hashes, int shard, ObjectKey key) {
    int size = stored.blockSize();
    if (size != 0 && size != blockSize()) {
      learned.sizes().differsInPart(size);
      return SkipReason.BLOCK_SIZE_MISMATCH;
    } else if (size != 0) {
      learned.sizes().fits();
    }
    if (stored.tokens().fit() == Fit.UNUSABLE) {
      remark(Remark.TOKENS_UNUSABLE);
    }
    Parent named = stored.parent();
    Parent parent = named.hash() == 0 ? Parent.UNKNOWN : named;
    StatedContext context = context(stored.adapter(), stored.salt());
    Hashes locals = isEngineNamed() ? Hashes.EMPTY : locals(stored, context);
    KvEvent.Stored first =
        new KvEvent.Stored(
            new Place(stored.scope().medium(), rank(), shard, object.backendId()),
            context,
            parent,
            hashes,
            locals.size() == hashes.size() ? locals : Hashes.EMPTY,
            Hashes.EMPTY);
    remarkOn(key);
    if (registration.options().removalScope() == null) {
      learned.removals().stored(nameOf(object, hashes));
    }
    List<String> addresses = object.addresses();
    if (addresses == null) {
      add(first);
    } else {
      addAt(addresses, first);
    }
    return null;
  }

  private @Nullable SkipReason addRemoved(
      StoreObject object, EngineEvent event, Hashes hashes, int shard) {
    String medium = event instanceof EngineEvent.Removed gone ? gone.scope().medium() : null;
    boolean ofOne =
        medium != null && !medium.isEmpty() && isOfOneMedium(nameOf(object, hashes), medium);
    add(
        new KvEvent.Removed(
            new Place(ofOne ? medium : null, rank(), shard, object.backendId()),
            hashes,
            Hashes.EMPTY));
    // Elsewhere it is still there, and what removes it from there may name the key alone.
    if (!ofOne && object.key() != null) {
      learned.names().forget(object.key());
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
    Place everywhere = new Place(null, rank(), shard, object.backendId());
    List<String> addresses = object.addresses() == null ? List.of() : object.addresses();
    remarkOn(key);
    addAt(
        addresses,
        new KvEvent.Stored(
            everywhere,
            context(EngineEvent.Adapter.NONE, null),
            Parent.UNKNOWN,
            hashes,
            Hashes.EMPTY,
            Hashes.EMPTY));
    return null;
  }

  /** Stored on the media of its addresses, and on no other. */
  private void addAt(List<String> addresses, KvEvent.Stored block) {
    Set<String> media = addressMedia.of(addresses);
    for (String medium : media) {
      add(
          new KvEvent.Stored(
              at(medium, block.place()),
              block.context(),
              block.parent(),
              block.engineHashes(),
              block.localHashes(),
              block.extraHashes()));
    }
    for (String medium : addressMedia.all()) {
      if (!media.contains(medium)) {
        add(new KvEvent.Removed(at(medium, block.place()), block.engineHashes(), Hashes.EMPTY));
      }
    }
  }

  private static Place at(String medium, Place place) {
    return new Place(medium, place.rank(), place.group(), place.backendId());
  }

  /** What of a stored object's place in its block is only guessed. */
  private void remarkOn(ObjectKey key) {
    if (shards.isGuess(key)) {
      remark(Remark.UNVERIFIED_SHARDS);
    }
    if (shards.isGroupGuess(key)) {
      remark(Remark.UNVERIFIED_GROUP);
    }
  }

  /** Whether names are prefix hashes by the table's rule. */
  private boolean isEngineNamed() {
    return registration.table().hashProfile().algorithm().isEngineNamed();
  }

  /** Whether a removal that names that medium is of no other: as registered, else as seen. */
  private boolean isOfOneMedium(String object, String medium) {
    RemovalScope scope = registration.options().removalScope();
    return scope == null
        ? learned.removals().isOfOneMedium(object, medium)
        : scope == RemovalScope.MEDIUM;
  }

  /**
   * Whether a key that tells no block, and of which nothing is remembered, may be that of a stored
   * one. Only events with addresses speak of objects by a mere name that others gave a hash to.
   */
  private boolean mayHaveForgotten(StoreObject object) {
    return object.addresses() != null && !learned.names().isComplete();
  }
}
