// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Media;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.registration.LowerTier;
import io.kvindex.model.registration.RemovalScope;
import io.kvindex.model.registration.ShardDimension;
import io.kvindex.model.registration.Shards;
import io.kvindex.model.registration.SourceOptions;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Reads the members of a registration that have a default. */
final class OptionFields {
  private static final int MAX_ADDRESS_TIERS = 64;
  private static final int MAX_GROUP = 999_999;

  private final BodyFields fields;
  private final SourceType type;

  private final CopyPolicy copies;

  private OptionFields(BodyFields fields, SourceType type, CopyPolicy copies) {
    this.fields = fields;
    this.type = type;
    this.copies = copies;
  }

  /**
   * @throws ApiException naming the member at fault
   */
  static SourceOptions read(BodyFields fields, SourceType type) {
    return read(fields, type, CopyPolicy.defaultFor(type));
  }

  /**
   * The same where repeated stores count in another way unless the body says how.
   *
   * @throws ApiException naming the member at fault
   */
  static SourceOptions read(BodyFields fields, SourceType type, CopyPolicy copies) {
    return new OptionFields(fields, type, copies).options();
  }

  private SourceOptions options() {
    @Nullable String topic = fields.text("topic");
    Shards shards = shards();
    return new SourceOptions(
        copies(),
        fields.texts("pools"),
        topic == null ? "" : topic,
        persistentMedia(),
        lowerTier(),
        shards,
        expirySeconds(),
        addressTiers(),
        poolGroups(shards),
        clearScope(),
        removalScope(),
        loraPaths(),
        fields.flag("detached"));
  }

  /** Of engines; the standard's clear says itself what it is of. */
  private @Nullable ClearScope clearScope() {
    ClearScope scope =
        choice(
            "clear_scope",
            "device, device_and_host or all",
            Map.of(
                "device",
                ClearScope.DEVICE,
                "device_and_host",
                ClearScope.DEVICE_AND_HOST,
                "all",
                ClearScope.ALL));
    if (scope != null && (type.isPool() || type == SourceType.KV_EVENTS)) {
      throw invalid("clear_scope", "is not for type " + type.wireName());
    }
    return scope;
  }

  private @Nullable RemovalScope removalScope() {
    if (fields.has("removal_scope")) {
      onlyFor(true, "removal_scope");
    }
    return choice(
        "removal_scope",
        "all or medium",
        Map.of("all", RemovalScope.ALL, "medium", RemovalScope.MEDIUM));
  }

  /**
   * What a member's text means, in any case; null if it is absent.
   *
   * @param rule the texts, for people
   */
  private <E> @Nullable E choice(String field, String rule, Map<String, E> meanings) {
    String text = fields.text(field);
    if (text == null) {
      return null;
    }
    E meaning = meanings.get(text.toLowerCase(Locale.ROOT));
    if (meaning == null) {
      throw invalid(field, "must be " + rule + ", got " + quoted(text));
    }
    return meaning;
  }

  /** Paths by adapter. */
  private Map<String, String> loraPaths() {
    Map<String, String> paths = fields.textsByName("lora_paths");
    if (paths == null) {
      return Map.of();
    }
    onlyFor(false, "lora_paths");
    return paths;
  }

  private CopyPolicy copies() {
    CopyPolicy stated =
        choice("copies", "count or set", Map.of("count", CopyPolicy.COUNT, "set", CopyPolicy.SET));
    return stated == null ? copies : stated;
  }

  private Set<String> persistentMedia() {
    List<String> media = fields.texts("persistent_media");
    if (media == null) {
      return Set.of();
    }
    for (String medium : media) {
      if (Media.standard().tier(medium) == Media.Tier.DEVICE) {
        throw invalid(
            "persistent_media",
            "lists media that outlive the process, which " + quoted(medium) + " does not");
      }
    }
    return new TreeSet<>(media);
  }

  private LowerTier lowerTier() {
    String text = fields.text("lower_tier");
    if (text == null) {
      return LowerTier.OWN;
    }
    onlyFor(false, "lower_tier");
    try {
      return LowerTier.parse(text);
    } catch (IllegalArgumentException e) {
      throw invalid("lower_tier", e.getMessage() + ", got " + quoted(text));
    }
  }

  private int expirySeconds() {
    if (fields.has("expiry_seconds")) {
      onlyFor(true, "expiry_seconds");
    }
    return fields.number("expiry_seconds", 0, LowerTier.MAX_SECONDS, 0);
  }

  /** A number of tensor parallel ranks, or sizes by dimension. */
  private @Nullable Shards shards() {
    JsonNode node = fields.node("shards");
    if (node == null) {
      return null;
    }
    onlyFor(true, "shards");
    if (!node.isObject()) {
      return Shards.of(fields.number("shards", 1, Shards.MAX, 1));
    }
    Map<String, Integer> sizes = new LinkedHashMap<>();
    node.fields()
        .forEachRemaining(
            member -> {
              if (!member.getValue().isIntegralNumber() || !member.getValue().canConvertToInt()) {
                throw invalid("shards", "must have an integer as " + quoted(member.getKey()));
              }
              sizes.put(dimension(member.getKey()).wireName(), member.getValue().intValue());
            });
    try {
      return Shards.named(sizes);
    } catch (IllegalArgumentException e) {
      throw invalid("shards", "can not be: " + e.getMessage());
    }
  }

  private static ShardDimension dimension(String name) {
    for (ShardDimension dimension : ShardDimension.values()) {
      if (dimension.wireName().equals(name)) {
        return dimension;
      }
    }
    throw invalid("shards", "may have tp, pcp, dcp, pp, layers and kv, but has " + quoted(name));
  }

  private Map<String, String> addressTiers() {
    JsonNode node = fields.node("address_tiers");
    if (node == null) {
      return Map.of();
    }
    onlyFor(true, "address_tiers");
    if (!node.isObject()) {
      throw fields.wrongType("address_tiers", "an object of media by part of the address");
    }
    Map<String, String> tiers = new LinkedHashMap<>();
    node.fields()
        .forEachRemaining(
            member -> {
              if (member.getKey().isEmpty()
                  || !member.getValue().isTextual()
                  || member.getValue().textValue().isBlank()) {
                throw invalid("address_tiers", "must map parts of addresses to media");
              }
              tiers.put(member.getKey(), member.getValue().textValue());
            });
    if (tiers.size() > MAX_ADDRESS_TIERS) {
      throw invalid("address_tiers", "may have " + MAX_ADDRESS_TIERS + " members at most");
    }
    return tiers;
  }

  /** Numbers of attention groups; the objects of all together have to fit. */
  private @Nullable List<Integer> poolGroups(@Nullable Shards shards) {
    JsonNode node = fields.node("pool_groups");
    if (node == null) {
      return null;
    }
    onlyFor(true, "pool_groups");
    if (!node.isArray()) {
      throw fields.wrongType("pool_groups", "an array of integers");
    }
    Set<Integer> groups = new TreeSet<>();
    for (JsonNode element : node) {
      boolean number = element.isIntegralNumber() && element.canConvertToInt();
      if (!number || element.intValue() < 0 || element.intValue() > MAX_GROUP) {
        throw invalid("pool_groups", "must have integers of 0 to " + MAX_GROUP);
      }
      groups.add(element.intValue());
    }
    int most = Math.min(SourceOptions.MAX_POOL_GROUPS, Shards.MAX / count(shards));
    if (groups.isEmpty() || groups.size() > most) {
      throw invalid(
          "pool_groups",
          "must have 1 to " + most + " groups; a block has " + Shards.MAX + " objects at most");
    }
    return List.copyOf(groups);
  }

  private static int count(@Nullable Shards shards) {
    return shards == null ? 1 : shards.count();
  }

  private void onlyFor(boolean pools, String field) {
    if (type.isPool() != pools) {
      throw invalid(
          field, pools ? "is for registrations of type Mooncake only" : "is not for type Mooncake");
    }
  }

  private static ApiException invalid(String field, String what) {
    return ErrorCode.INVALID_VALUE.member(field, what);
  }

  private static String quoted(String text) {
    return '"' + ErrorCode.echo(text) + '"';
  }
}
