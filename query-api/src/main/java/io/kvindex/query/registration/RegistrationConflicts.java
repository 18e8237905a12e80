// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import io.kvindex.model.TableId;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.Shards;
import io.kvindex.model.registration.SourceOptions;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What keeps a registration from standing beside those there already are. */
final class RegistrationConflicts {
  private RegistrationConflicts() {}

  /** The members in which two registrations of one publisher differ, adapters aside. */
  static Map<String, String> differences(Registration old, Registration wanted) {
    Map<String, String> found = new LinkedHashMap<>();
    compare(found, "endpoint", old.endpoint(), wanted.endpoint());
    compare(found, "replay_endpoint", old.replayEndpoint(), wanted.replayEndpoint());
    compare(found, "type", old.type().wireName(), wanted.type().wireName());
    compare(found, "modelname", old.table().model(), wanted.table().model());
    compare(found, "block_size", old.table().blockSize(), wanted.table().blockSize());
    compare(
        found,
        "hash_profile",
        old.table().hashProfile().label(),
        wanted.table().hashProfile().label());
    compare(found, "additionalsalt", old.namespace(), wanted.namespace());
    compareOptions(found, old.options(), wanted.options());
    return found;
  }

  private static void compareOptions(
      Map<String, String> found, SourceOptions old, SourceOptions wanted) {
    compare(found, "copies", lower(old.copies()), lower(wanted.copies()));
    compare(found, "pools", old.pools(), wanted.pools());
    compare(found, "topic", old.topic(), wanted.topic());
    compare(found, "persistent_media", old.persistentMedia(), wanted.persistentMedia());
    compare(found, "lower_tier", old.lowerTier().text(), wanted.lowerTier().text());
    compare(found, "shards", shards(old.shards()), shards(wanted.shards()));
    compare(found, "expiry_seconds", old.expirySeconds(), wanted.expirySeconds());
    compare(found, "address_tiers", old.addressTiers(), wanted.addressTiers());
    compare(found, "pool_groups", old.poolGroups(), wanted.poolGroups());
    compare(found, "clear_scope", lower(old.clearScope()), lower(wanted.clearScope()));
    compare(found, "detached", old.detached(), wanted.detached());
    compare(found, "removal_scope", lower(old.removalScope()), lower(wanted.removalScope()));
    if (wanted.loraPaths().entrySet().stream()
        .anyMatch(one -> isOther(old.loraPaths().get(one.getKey()), one.getValue()))) {
      compare(found, "lora_paths", old.loraPaths(), wanted.loraPaths());
    }
  }

  private static @Nullable String lower(@Nullable Enum<?> value) {
    return value == null ? null : value.name().toLowerCase(Locale.ROOT);
  }

  /** A path may be added to those there are, as an adapter may. */
  private static boolean isOther(@Nullable String old, String wanted) {
    return old != null && !old.equals(wanted);
  }

  private static @Nullable Object shards(@Nullable Shards shards) {
    return shards == null ? null : shards.byName();
  }

  private static void compare(
      Map<String, String> found, String field, @Nullable Object old, @Nullable Object wanted) {
    if (!Objects.equals(old, wanted)) {
      found.put(field, field + " (" + shown(old) + ", now " + shown(wanted) + ")");
    }
  }

  private static String shown(@Nullable Object value) {
    return value == null || value.equals("") ? "none" : ErrorCode.echo(value.toString());
  }

  static ApiException conflict(Registration old, Map<String, String> differences) {
    @Nullable String field =
        differences.size() == 1 ? differences.keySet().iterator().next() : null;
    return new ApiException(
        ErrorCode.REGISTRATION_CONFLICT,
        old.publisher().displayName()
            + " is already registered with other values of: "
            + String.join(", ", differences.values())
            + "; unregister it first or send \"replace\": true",
        field,
        ErrorCode.NO_INDEX);
  }

  /** Two hash profiles for one (tenant, model, block size) would split its prefixes: refused. */
  static void checkProfile(RegistrationSnapshot snapshot, Registration wanted) {
    TableId table = wanted.table();
    for (Registered one : snapshot.all()) {
      TableId other = one.registration().table();
      if (other.tenantId().equals(table.tenantId())
          && other.model().equals(table.model())
          && other.blockSize() == table.blockSize()
          && !other.hashProfile().equals(table.hashProfile())
          && !one.registration().publisher().equals(wanted.publisher())) {
        throw ErrorCode.HASH_PROFILE_CONFLICT.of(
            "hash_profile",
            one.registration().publisher().displayName()
                + " already uses hash_profile "
                + other.hashProfile().label()
                + " for this model and block_size, got "
                + table.hashProfile().label());
      }
    }
  }
}
