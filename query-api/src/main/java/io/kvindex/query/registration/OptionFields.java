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
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Reads the members of a registration that have a default. */
final class OptionFields {
  private static final int MAX_ADDRESS_TIERS = 64;
  private static final int MAX_GROUP = 999_999;

  /** Members for pools alone, and for all others. */
  private static final List<String> OF_POOLS =
      List.of("shards", "expiry_seconds", "address_tiers", "pool_groups", "removal_scope");

  private static final List<String> OF_ENGINES = List.of("lower_tier", "lora_paths");

  private final BodyFields fields;

  private OptionFields(BodyFields fields) {
    this.fields = fields;
  }

  /**
   * @param copies how repeated stores count unless the body says how
   * @throws ApiException naming the member at fault
   */
  static SourceOptions read(BodyFields fields, SourceType type, CopyPolicy copies) {
    for (String field : type.isPool() ? OF_ENGINES : OF_POOLS) {
      if (fields.has(field)) {
        throw invalid(
            field,
            type.isPool()
                ? "is not for type Mooncake"
                : "is for registrations of type Mooncake only");
      }
    }
    return new OptionFields(fields).options(type, copies);
  }

  private SourceOptions options(SourceType type, CopyPolicy copies) {
    Shards shards = shards();
    return new SourceOptions(
        Objects.requireNonNullElse(choice("copies", CopyPolicy.values()), copies),
        fields.texts("pools"),
        Objects.requireNonNullElse(fields.text("topic"), ""),
        persistentMedia(),
        lowerTier(),
        shards,
        fields.number("expiry_seconds", 0, LowerTier.MAX_SECONDS, 0),
        addressTiers(),
        poolGroups(shards),
        clearScope(type),
        choice("removal_scope", RemovalScope.values()),
        Objects.requireNonNullElse(fields.textsByName("lora_paths"), Map.of()),
        fields.flag("detached"));
  }

  /** Of engines; the standard's clear says itself what it is of. */
  private @Nullable ClearScope clearScope(SourceType type) {
    ClearScope scope =
        choice("clear_scope", ClearScope.DEVICE, ClearScope.DEVICE_AND_HOST, ClearScope.ALL);
    if (scope != null && (type.isPool() || type == SourceType.KV_EVENTS)) {
      throw invalid("clear_scope", "is not for type " + type.wireName());
    }
    return scope;
  }

  /** What a member's text means, in any case; null if it is absent. */
  @SafeVarargs
  private <E extends Enum<E>> @Nullable E choice(String field, E... meanings) {
    String text = fields.text(field);
    if (text == null) {
      return null;
    }
    List<String> names =
        Arrays.stream(meanings).map(one -> one.name().toLowerCase(Locale.ROOT)).toList();
    int found = names.indexOf(text.toLowerCase(Locale.ROOT));
    if (found >= 0) {
      return meanings[found];
    }
    int last = names.size() - 1;
    String rule = String.join(", ", names.subList(0, last)) + " or " + names.get(last);
    throw invalid(field, "must be " + rule + ", got " + quoted(text));
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
    try {
      return LowerTier.parse(text);
    } catch (IllegalArgumentException e) {
      throw invalid("lower_tier", e.getMessage() + ", got " + quoted(text));
    }
  }

  /** A number of tensor parallel ranks, or sizes by dimension. */
  private @Nullable Shards shards() {
    JsonNode node = fields.node("shards");
    if (node == null) {
      return null;
    }
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
    int objects = shards == null ? 1 : shards.count();
    int most = Math.min(SourceOptions.MAX_POOL_GROUPS, Shards.MAX / objects);
    if (groups.isEmpty() || groups.size() > most) {
      throw invalid(
          "pool_groups",
          "must have 1 to " + most + " groups; a block has " + Shards.MAX + " objects at most");
    }
    return List.copyOf(groups);
  }

  private static ApiException invalid(String field, String what) {
    return ErrorCode.INVALID_VALUE.member(field, what);
  }

  private static String quoted(String text) {
    return '"' + ErrorCode.echo(text) + '"';
  }
}
