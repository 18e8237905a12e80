// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.conductor;

import io.kvindex.query.http.QueryReply;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.lookup.Trust;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** How far to trust an answer, taken together over the tables it came from. */
final class TrustHeaders {
  private Trust trust = Trust.EXACT;
  private long lagMs;
  private @Nullable String degraded;

  void clear() {
    trust = Trust.EXACT;
    lagMs = 0;
    degraded = null;
  }

  void add(TableView view) {
    trust = trust.and(view.trust());
    lagMs = Math.max(lagMs, view.lagMs());
    Collection<String> instances = view.degradedInstances();
    if (!instances.isEmpty()) {
      trust = trust.and(Trust.DEGRADED);
      String names = instances.stream().map(TrustHeaders::safe).collect(Collectors.joining(","));
      degraded = degraded == null ? names : degraded + "," + names;
    }
  }

  void writeTo(QueryReply reply) {
    reply.trust(trust.headerValue(), lagMs, degraded);
  }

  /** Instance names are free text, header values are not: what is unusual is percent-encoded. */
  private static String safe(String instance) {
    boolean plain = instance.chars().allMatch(c -> c > ' ' && c < 0x7F && c != ',' && c != '%');
    return plain ? instance : URLEncoder.encode(instance, StandardCharsets.UTF_8);
  }
}
