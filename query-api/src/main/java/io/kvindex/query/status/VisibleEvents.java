// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.status;

import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.http.EventVisibility;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.parse.MinEvent;
import io.kvindex.query.parse.QueryBody.EventPlace;
import io.kvindex.query.registration.Registered;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.streams.view.StreamPosition;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * How far registered publishers are visible in this replica. An event is one of the engine's
 * present life, as far as that is known here: numbers begin anew with each.
 */
public final class VisibleEvents implements EventVisibility {
  private final Supplier<RegistrationSnapshot> registrations;
  private final Function<PublisherId, @Nullable BridgeProgress> progress;
  private final IndexAccess index;

  public VisibleEvents(
      Supplier<RegistrationSnapshot> registrations,
      Function<PublisherId, @Nullable BridgeProgress> progress,
      IndexAccess index) {
    this.registrations = registrations;
    this.progress = progress;
    this.index = index;
  }

  @Override
  public boolean isVisible(String tenant, MinEvent event) {
    Registered one = registered(tenant, event);
    StreamPosition at = one == null ? null : position(one);
    return at != null && at.covers(event.eventId());
  }

  @Override
  public @Nullable EventPlace place(String tenant, MinEvent event) {
    Registered one = registered(tenant, event);
    StreamPosition at = one == null ? null : position(one);
    return one == null || at == null
        ? null
        : new EventPlace(one.registration().table(), at.sourceOffset());
  }

  @Override
  public String howFar(String tenant, MinEvent event) {
    Registered one = registered(tenant, event);
    if (one == null) {
      return "no such publisher of tenant " + tenant + " is registered here";
    }
    StreamPosition at = position(one);
    Long last = at == null ? null : at.lastWhole();
    if (at == null && mayBeAnother(one)) {
      return "its engine is not connected, or not yet shown to be the one whose events are visible";
    }
    return last == null
        ? "no event of its present life is visible"
        : "event " + Long.toUnsignedString(last) + " is the newest one visible";
  }

  private @Nullable Registered registered(String tenant, MinEvent event) {
    Registered one =
        registrations.get().get(new PublisherId(event.instanceId(), tenant, event.dpRank()));
    if (one != null && one.registration().type() == SourceType.KV_EVENTS) {
      throw ErrorCode.UNSUPPORTED.of(
          "min_event",
          "publishers of type KVEvents number their events in many streams: no single one can be"
              + " waited for");
    }
    return one;
  }

  private @Nullable StreamPosition position(Registered one) {
    PublisherId publisher = one.registration().publisher();
    StreamPosition at = index.position(one.registration().table(), publisher);
    if (at == null || at.incarnation().generation() < one.generation()) {
      return null;
    }
    BridgeProgress heard = progress.apply(publisher);
    boolean older = heard != null && isOlder(at.incarnation(), heard);
    return older || mayBeAnother(one) ? null : at;
  }

  /**
   * Whether its engine may be another one by now, whose numbers are not those that are visible: it
   * is not connected, not yet shown to be the one from before, or known to be another one.
   */
  private boolean mayBeAnother(Registered one) {
    BridgeProgress heard = progress.apply(one.registration().publisher());
    return heard != null
        && heard.generation() == one.generation()
        && !one.registration().options().detached()
        && !heard.isProven();
  }

  private static boolean isOlder(Incarnation visible, BridgeProgress heard) {
    Long life = heard.life();
    return visible.generation() == heard.generation() && life != null && visible.life() < life;
  }
}
