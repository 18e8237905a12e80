// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.produce.SendSession;
import io.kvindex.model.Incarnation;
import io.kvindex.model.progress.GroupSpec;
import io.kvindex.model.registration.Registration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A life to follow, claimed in Kafka before.
 *
 * @param registration what to follow
 * @param incarnation generation and life, written with every record
 * @param acked what Kafka has of it, null = nothing
 * @param logNext where in the events log to read on for what {@code acked} says nothing of, -1 =
 *     not known
 * @param degraded whether events of it are known to be missing
 * @param retells last batch that it has to tell once more, null = none
 * @param opens whether it follows another life of the same generation, which it has to fence
 * @param ids last number acknowledged by stream, where events have their own
 * @param groups attention groups its stores have told of
 */
public record Life(
    Registration registration,
    Incarnation incarnation,
    SendSession.@Nullable Acked acked,
    long logNext,
    boolean degraded,
    @Nullable Long retells,
    boolean opens,
    Map<String, Long> ids,
    List<GroupSpec> groups) {

  /** A life of which no more is known. */
  public Life(
      Registration registration,
      Incarnation incarnation,
      SendSession.@Nullable Acked acked,
      boolean degraded,
      boolean opens) {
    this(registration, incarnation, acked, -1, degraded, null, opens, Map.of(), List.of());
  }
}
