// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * One ZMQ event source, which is one registration: the engine or store {@code instanceId} of {@code
 * tenantId}, its data-parallel rank {@code dpRank}.
 *
 * @param instanceId router-facing instance name, not empty
 * @param tenantId tenant, never empty ({@code default} when the registration names none)
 * @param dpRank registered data-parallel rank, 0..2^31-1
 */
public record PublisherId(String instanceId, String tenantId, int dpRank)
    implements Comparable<PublisherId> {

  /** Tenant used wherever a document says that the tenant may be left out. */
  public static final String DEFAULT_TENANT = "default";

  public PublisherId {
    Objects.requireNonNull(instanceId);
    Objects.requireNonNull(tenantId);
    if (instanceId.isEmpty() || tenantId.isEmpty() || dpRank < 0) {
      throw new IllegalArgumentException(
          "publisher needs an instance, a tenant and a rank >= 0, got "
              + instanceId
              + "|"
              + tenantId
              + "|"
              + dpRank);
    }
  }

  /**
   * Name as routers see it in {@code removed_instances}: {@code instance|tenant|rank}, unescaped.
   */
  public String displayName() {
    return instanceId + "|" + tenantId + "|" + dpRank;
  }

  /**
   * Unique text form, the Kafka key: as {@link #displayName()} with {@code |} and {@code \} escaped
   * by {@code \}.
   */
  public String key() {
    return escape(instanceId) + "|" + escape(tenantId) + "|" + dpRank;
  }

  /**
   * Reads {@link #key()} back.
   *
   * @throws IllegalArgumentException if {@code key} was not made by {@link #key()}
   */
  public static PublisherId parse(String key) {
    List<String> parts = new ArrayList<>(3);
    StringBuilder part = new StringBuilder();
    for (int i = 0; i < key.length(); i++) {
      char c = key.charAt(i);
      if (c == '\\' && i + 1 < key.length()) {
        part.append(key.charAt(++i));
      } else if (c == '|') {
        parts.add(part.toString());
        part.setLength(0);
      } else {
        part.append(c);
      }
    }
    parts.add(part.toString());
    if (parts.size() != 3) {
      throw new IllegalArgumentException("not a publisher key: " + key);
    }
    return new PublisherId(parts.get(0), parts.get(1), Integer.parseInt(parts.get(2)));
  }

  private static String escape(String text) {
    return text.replace("\\", "\\\\").replace("|", "\\|");
  }

  @Override
  public int compareTo(PublisherId other) {
    int byInstance = instanceId.compareTo(other.instanceId);
    int byTenant = byInstance != 0 ? byInstance : tenantId.compareTo(other.tenantId);
    return byTenant != 0 ? byTenant : Integer.compare(dpRank, other.dpRank);
  }

  @Override
  public String toString() {
    return displayName();
  }
}
