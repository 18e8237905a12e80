// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.prompt;

import io.kvindex.query.http.QueryReply;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.lookup.Trust;
import io.kvindex.query.registration.TableRows;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** How far to trust an answer, taken together over the tables it came from. For one thread. */
public final class TrustHeaders {
  private Trust trust = Trust.EXACT;
  private long lagMs;
  private @Nullable String degraded;
  private List<String> lastInstances = List.of();
  private String lastNames = "";

  /** Begins anew. */
  public void clear() {
    trust = Trust.EXACT;
    lagMs = 0;
    degraded = null;
  }

  /** A table the answer is made from. */
  public void add(TableView view, TableRows rows) {
    trust = trust.and(view.trust());
    lagMs = Math.max(lagMs, view.lagMs());
    List<String> instances = rows.degraded(view.degradedPublishers());
    if (!instances.isEmpty()) {
      trust = trust.and(Trust.DEGRADED);
      String names = namesOf(instances);
      degraded = degraded == null ? names : degraded + "," + names;
    }
  }

  /** Sets the headers of the answer. */
  public void writeTo(QueryReply reply) {
    reply.trust(trust, lagMs, degraded);
  }

  /** A table's list is the same object until it changes, and so its names are worded once. */
  private String namesOf(List<String> instances) {
    if (instances != lastInstances) {
      lastNames = instances.stream().map(TrustHeaders::safe).collect(Collectors.joining(","));
      lastInstances = instances;
    }
    return lastNames;
  }

  /** Instance names are free text, header values are not: what is unusual is percent-encoded. */
  private static String safe(String instance) {
    boolean plain = instance.chars().allMatch(c -> c > ' ' && c < 0x7F && c != ',' && c != '%');
    if (instance.equals(QueryReply.ALL)) {
      return "%2A";
    }
    // A form's + for a blank would read as the plus of a plain name.
    return plain
        ? instance
        : URLEncoder.encode(instance, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
