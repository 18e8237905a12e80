// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import static java.util.stream.Collectors.collectingAndThen;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import io.kvindex.model.Media;
import io.kvindex.model.PublisherId;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** All registrations at one moment, with the views queries need. Immutable. */
public final class RegistrationSnapshot {
  /** Nothing registered. */
  public static final RegistrationSnapshot EMPTY =
      new RegistrationSnapshot(new TreeMap<>(), Media.standard(), Map::of);

  private final NavigableMap<PublisherId, Registered> byPublisher;
  // tenant -> model -> block size: nested, so that a query looks up without building a key
  private final Map<String, Map<String, TreeMap<Integer, List<TableRows>>>> tables;

  /**
   * @param byPublisher taken over, never changed again
   * @param media how owners' media are counted
   * @param unconnected publishers without a connection they can be trusted by, with the generation
   *     of their registration; the same object until they change
   */
  RegistrationSnapshot(
      NavigableMap<PublisherId, Registered> byPublisher,
      Media media,
      Supplier<Map<PublisherId, Long>> unconnected) {
    this.byPublisher = byPublisher;
    tables =
        byPublisher.values().stream()
            .collect(
                groupingBy(
                    one -> one.registration().table().tenantId(),
                    groupingBy(
                        one -> one.registration().table().model(),
                        groupingBy(
                            one -> one.registration().table().blockSize(),
                            TreeMap::new,
                            collectingAndThen(
                                toList(), some -> TableRows.of(some, media, unconnected))))));
    tables.values().stream()
        .flatMap(models -> models.values().stream())
        .forEach(sizes -> sizes.values().removeIf(List::isEmpty)); // of pools alone
  }

  /** A snapshot of the given registrations, the last one counting where a publisher has two. */
  public static RegistrationSnapshot of(Collection<Registered> registrations, Media media) {
    return of(registrations, media, Map::of);
  }

  /** The same where some publishers are without a connection. */
  static RegistrationSnapshot of(
      Collection<Registered> registrations,
      Media media,
      Supplier<Map<PublisherId, Long>> unconnected) {
    NavigableMap<PublisherId, Registered> byPublisher = new TreeMap<>();
    registrations.forEach(one -> byPublisher.put(one.registration().publisher(), one));
    return new RegistrationSnapshot(byPublisher, media, unconnected);
  }

  /** A publisher's registration, null if there is none. */
  public @Nullable Registered get(PublisherId publisher) {
    return byPublisher.get(publisher);
  }

  /** All registrations by publisher. */
  public Collection<Registered> all() {
    return Collections.unmodifiableCollection(byPublisher.values());
  }

  public int size() {
    return byPublisher.size();
  }

  /**
   * The rows of (tenant, model) by block size, empty if no instance is registered. A block size has
   * one element, or two after a race between two hash profiles.
   */
  public NavigableMap<Integer, List<TableRows>> tables(String tenant, String model) {
    Map<String, TreeMap<Integer, List<TableRows>>> models = tables.get(tenant);
    NavigableMap<Integer, List<TableRows>> sizes = models == null ? null : models.get(model);
    return sizes == null ? Collections.emptyNavigableMap() : sizes;
  }

  /** A copy to apply changes to. */
  NavigableMap<PublisherId, Registered> copy() {
    return new TreeMap<>(byPublisher);
  }
}
