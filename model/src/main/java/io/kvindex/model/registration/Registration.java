// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.registration;

import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A publisher somebody asked us to follow, one value of the registrations topic.
 *
 * @param publisher who; the Kafka key
 * @param endpoint ZMQ address of its event socket
 * @param replayEndpoint ZMQ address of its replay socket, null = none
 * @param type what kind of publisher
 * @param table which table its blocks belong to
 * @param loraNames adapters it was registered with, in order; the first one (may be empty = base
 *     model) is the default for events that name none; never empty
 * @param namespace {@code additionalsalt}, null = none
 * @param options members that have a default
 * @param continues generation this record only adds an adapter to, null = a generation of its own
 */
public record Registration(
    PublisherId publisher,
    String endpoint,
    @Nullable String replayEndpoint,
    SourceType type,
    TableId table,
    List<String> loraNames,
    @Nullable String namespace,
    SourceOptions options,
    @Nullable Long continues) {

  public Registration {
    Objects.requireNonNull(publisher);
    Objects.requireNonNull(endpoint);
    Objects.requireNonNull(type);
    Objects.requireNonNull(table);
    loraNames = List.copyOf(loraNames);
    Objects.requireNonNull(options);
    if (loraNames.isEmpty()) {
      throw new IllegalArgumentException(
          "a registration has at least one adapter, the base model being \"\"");
    }
  }

  /** Adapter of events that name none; null = base model. */
  public @Nullable String defaultLora() {
    String first = loraNames.get(0);
    return first.isEmpty() ? null : first;
  }

  /** The same registration with other paths of adapters. */
  public Registration withLoraPaths(Map<String, String> paths) {
    return new Registration(
        publisher,
        endpoint,
        replayEndpoint,
        type,
        table,
        loraNames,
        namespace,
        options.withLoraPaths(paths),
        continues);
  }

  /** The same registration with other adapters, as a continuation of {@code generation}. */
  public Registration withLoraNames(List<String> names, long generation) {
    return new Registration(
        publisher, endpoint, replayEndpoint, type, table, names, namespace, options, generation);
  }
}
