// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.model.CopyPolicy;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import java.math.BigInteger;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Bodies of {@code /register} and {@code /unregister} as Dynamo's standalone indexer takes them.
 * {@code tenant_id} is what {@code routing_group} was called before its v1.3. Members it does not
 * know are ignored, but for those of our own registrations that have a default ({@code type},
 * {@code hash_profile}, {@code copies}, {@code replace}...), which may be added.
 *
 * @param instanceId their number in decimal, or a name
 * @param model {@code model_name}
 * @param group the tenant, null = not said
 * @param dpRank empty = not said
 */
record DynamoRequest(String instanceId, String model, @Nullable String group, OptionalInt dpRank) {
  private static final BigInteger MAX_U64 = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);

  /**
   * Reads the body of {@code /unregister}.
   *
   * @throws ApiException naming the member at fault
   */
  static DynamoRequest parse(byte[] body) {
    return read(BodyFields.parse(body));
  }

  /** Reads the body of {@code /register}, otherwise the same. */
  static RegisterRequest parseRegister(byte[] body) {
    BodyFields fields = BodyFields.parse(body);
    DynamoRequest who = read(fields);
    String named = fields.text("endpoint");
    if (named != null) {
      RegisterRequest.checkEndpoint(named); // an empty one is malformed here, not missing
    }
    String endpoint = fields.requiredText("endpoint");
    String replay = fields.text("replay_endpoint");
    if (replay != null) {
      RegisterRequest.checkReplayEndpoint(replay);
    }
    // Every publisher of theirs sends what vLLM sends, whatever it is.
    String type = fields.text("type");
    SourceType source = type == null ? SourceType.VLLM : RegisterRequest.type(type);
    // Theirs is a set; so a repeated store can not keep a block for ever.
    CopyPolicy copies = type == null ? CopyPolicy.SET : CopyPolicy.defaultFor(source);
    SourceOptions options = OptionFields.read(fields, source, copies);
    if (type == null && options.clearScope() == null) {
      options = options.withClearScope(ClearScope.ALL); // so is the clear of theirs
    }
    String lora = fields.text("lora_name");
    fields.eitherText("additional_salt", "additionalsalt"); // as theirs: a string, and no more
    String tenant = who.group == null ? PublisherId.DEFAULT_TENANT : who.group;
    if (!fields.has("block_size")) {
      throw ErrorCode.missing("block_size");
    }
    Registration registration =
        new Registration(
            new PublisherId(who.instanceId, tenant, who.dpRank.orElse(0)),
            endpoint,
            replay,
            source,
            new TableId(
                tenant,
                who.model,
                fields.number("block_size", 1, TableId.MAX_BLOCK_SIZE, 0),
                HashProfileField.read(fields, HashProfile.of(Algorithm.XXH3_DYNAMO))),
            List.of(lora == null ? "" : lora),
            null,
            options,
            null);
    return new RegisterRequest(registration, fields.flag("replace"));
  }

  private static DynamoRequest read(BodyFields fields) {
    if (fields.has("model") || fields.has("modelname")) {
      throw ErrorCode.both("model", "model_name", "model_name");
    }
    return new DynamoRequest(
        instance(fields),
        fields.requiredText("model_name"),
        group(fields),
        fields.has("dp_rank")
            ? OptionalInt.of(fields.number("dp_rank", 0, Integer.MAX_VALUE, 0))
            : OptionalInt.empty());
  }

  private static String instance(BodyFields fields) {
    JsonNode value = fields.node("instance_id");
    if (value == null) {
      throw ErrorCode.missing("instance_id");
    } else if (value.isTextual()) {
      return fields.requiredText("instance_id");
    } else if (!value.isIntegralNumber()) {
      throw fields.wrongType("instance_id", "an unsigned integer");
    }
    BigInteger number = value.bigIntegerValue();
    if (number.signum() < 0 || number.compareTo(MAX_U64) > 0) {
      throw ErrorCode.OUT_OF_RANGE.mustBe(
          "instance_id", "0 to " + MAX_U64, ErrorCode.echo(value.asText()));
    }
    return number.toString();
  }

  private static @Nullable String group(BodyFields fields) {
    String group = nonEmpty(fields.text("routing_group"));
    String tenant = nonEmpty(fields.text("tenant_id"));
    if (group != null && tenant != null && !group.equals(tenant)) {
      throw ErrorCode.CONFLICTING_FIELDS.of(
          "tenant_id", "`routing_group` and `tenant_id` name the same thing and differ");
    }
    return group == null ? tenant : group;
  }

  private static @Nullable String nonEmpty(@Nullable String text) {
    return text == null || text.isEmpty() ? null : text;
  }

  /**
   * Refuses what Dynamo's standalone indexer refuses beside what is registered, in its words: a
   * rank that is there, an instance of another model, another block size. Unlike there an instance
   * may be in several tenants. Source: reference 003; {@code registry.rs} of its v1.3.
   */
  static void check(RegistrationSnapshot snapshot, Registration wanted, boolean replace) {
    PublisherId publisher = wanted.publisher();
    for (Registered one : snapshot.all()) {
      Registration other = one.registration();
      boolean sameTenant = other.publisher().tenantId().equals(publisher.tenantId());
      boolean itself = other.publisher().equals(publisher);
      if (!sameTenant || itself && replace) {
        continue;
      }
      boolean sameModel = other.table().model().equals(wanted.table().model());
      if (other.publisher().instanceId().equals(publisher.instanceId()) && !sameModel) {
        throw conflict("instance_id", instance(other) + " is already registered for " + of(other));
      } else if (itself) {
        throw conflict(
            "dp_rank", instance(other) + " dp_rank " + publisher.dpRank() + " already registered");
      } else if (sameModel && isTheirs(other) && isOtherSize(other, wanted)) {
        throw conflict(
            "block_size",
            "block_size mismatch for "
                + of(other)
                + ": existing="
                + other.table().blockSize()
                + ", requested="
                + wanted.table().blockSize());
      }
    }
  }

  /** The publishers it names in a body of {@code /unregister}. */
  List<PublisherId> chosen(RegistrationSnapshot snapshot) {
    List<Registration> instance =
        snapshot.all().stream()
            .map(Registered::registration)
            .filter(one -> one.publisher().instanceId().equals(instanceId))
            .toList();
    if (instance.isEmpty()) {
      throw notFound("instance " + ErrorCode.echo(instanceId) + " not found");
    }
    List<Registration> meant =
        instance.stream()
            .filter(one -> one.table().model().equals(model))
            .filter(one -> group == null || one.publisher().tenantId().equals(group))
            .toList();
    if (meant.isEmpty()) {
      throw notFound(instance(instance.get(0)) + " is registered for " + of(instance.get(0)));
    }
    List<PublisherId> ranks =
        meant.stream()
            .map(Registration::publisher)
            .filter(one -> dpRank.isEmpty() || one.dpRank() == dpRank.getAsInt())
            .toList();
    if (ranks.isEmpty()) {
      throw notFound(instance(meant.get(0)) + " dp_rank " + dpRank.orElse(0) + " not found");
    }
    return ranks;
  }

  /** Registrations of this dialect are told by their hash rule. */
  private static boolean isTheirs(Registration one) {
    return one.table().hashProfile().algorithm() == Algorithm.XXH3_DYNAMO;
  }

  private static boolean isOtherSize(Registration one, Registration other) {
    return one.table().blockSize() != other.table().blockSize();
  }

  private static String instance(Registration one) {
    return "instance " + ErrorCode.echo(one.publisher().instanceId());
  }

  private static String of(Registration one) {
    return "model="
        + ErrorCode.echo(one.table().model())
        + " routing_group="
        + ErrorCode.echo(one.publisher().tenantId());
  }

  private static ApiException conflict(String field, String text) {
    return ErrorCode.REGISTRATION_CONFLICT.of(field, text);
  }

  private static ApiException notFound(String text) {
    return ErrorCode.SERVICE_NOT_FOUND.because(text);
  }
}
