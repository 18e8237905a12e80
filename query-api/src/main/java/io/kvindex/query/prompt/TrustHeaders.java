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

/** How far to trust an answer, taken together over the tables it came from. */
public final class TrustHeaders {

  /** Characters of names that go into one header: servers and proxies end at 8 KiB for all. */
  public static final int MAX_NAMES = 4_096;

  /** Stands for all instances of the answer where their names are too many. */
  private static final String ALL = "*";

  /** For one thread. */
  public TrustHeaders() {}

  private Trust trust = Trust.EXACT;
  private long lagMs;
  private @Nullable String degraded;
  private List<String> lastInstances = List.of();
  private String lastNames = "";

  /** Forgets the answer before. */
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
    boolean tooMany = degraded != null && degraded.length() > MAX_NAMES;
    reply.trust(trust.headerValue(), lagMs, tooMany ? ALL : degraded);
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
    if (instance.equals(ALL)) {
      return "%2A";
    }
    // A form's + for a blank would read as the plus of a plain name.
    return plain
        ? instance
        : URLEncoder.encode(instance, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
