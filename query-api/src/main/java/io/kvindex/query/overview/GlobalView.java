// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.overview;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.model.registration.Registration;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.registration.Registered;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.query.reply.ControlReplies;
import io.kvindex.streams.view.ContextNames;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Body of {@code GET /global_view}: the contexts instances are registered for, and those that only
 * their events name. Pools make no context. Request salts are not listed: who knows one can find
 * out what was asked under it.
 */
final class GlobalView {

  /** What shares blocks, request salts aside. */
  private record Context(TableId table, String lora, String namespace) {
    private static final Comparator<Context> ORDER =
        Comparator.comparing((Context c) -> c.table().tenantId())
            .thenComparing(c -> c.table().model())
            .thenComparing(c -> c.table().blockSize())
            .thenComparing(c -> c.table().hashProfile().label())
            .thenComparing(Context::lora)
            .thenComparing(Context::namespace);

    static Context of(TableId table, @Nullable String lora, @Nullable String namespace) {
      return new Context(table, lora == null ? "" : lora, namespace == null ? "" : namespace);
    }
  }

  /** Registered ranks by instance. */
  private final SortedMap<Context, SortedMap<String, SortedSet<Integer>>> contexts =
      new TreeMap<>(Context.ORDER);

  private final IndexAccess index;

  private GlobalView(RegistrationSnapshot registrations, IndexAccess index) {
    this.index = index;
    Set<TableId> tables = new LinkedHashSet<>();
    for (Registered one : registrations.all()) {
      if (!one.registration().type().isPool()) {
        addRegistered(one.registration());
        tables.add(one.registration().table());
      }
    }
    tables.forEach(this::addAnnounced);
  }

  static ObjectNode of(RegistrationSnapshot registrations, IndexAccess index) {
    return new GlobalView(registrations, index).body();
  }

  private void addRegistered(Registration registration) {
    PublisherId publisher = registration.publisher();
    for (String lora : registration.loraNames()) {
      contexts
          .computeIfAbsent(
              Context.of(registration.table(), lora, registration.namespace()),
              context -> new TreeMap<>())
          .computeIfAbsent(publisher.instanceId(), instance -> new TreeSet<>())
          .add(publisher.dpRank());
    }
  }

  private void addAnnounced(TableId table) {
    TableView view = index.view(table);
    if (view != null) {
      for (ContextNames names : view.contexts()) {
        contexts.putIfAbsent(
            Context.of(table, names.loraName(), names.namespace()), new TreeMap<>());
      }
    }
  }

  private ObjectNode body() {
    ObjectNode body = ControlReplies.object().put("context_count", contexts.size());
    ArrayNode list = body.putArray("contexts");
    contexts.forEach((context, instances) -> list.add(json(context, instances)));
    return body;
  }

  private ObjectNode json(Context context, Map<String, SortedSet<Integer>> instances) {
    TableId table = context.table();
    ObjectNode json =
        ControlReplies.object()
            .put("model_name", table.model())
            .put("lora_name", context.lora())
            .put("block_size", table.blockSize())
            .put("additional_salt", context.namespace())
            .put("tenant_id", table.tenantId());
    TableView view = index.view(table);
    if (view != null) {
      json.put("prefix_count", view.blockCount());
    }
    json.set("hash_profile", OverviewRoutes.profile(table.hashProfile()));
    ObjectNode ranks = json.putObject("instances");
    instances.forEach((instance, of) -> of.forEach(ranks.putArray(instance)::add));
    return json;
  }
}
