// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import io.kvindex.model.PublisherId;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.registration.Registration;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import java.util.List;

/**
 * What Dynamo's standalone indexer refuses beside what is registered, in its words. Unlike there an
 * instance may be in several tenants. Source: reference 003; {@code registry.rs} of its v1.3.
 */
final class DynamoRules {
  private DynamoRules() {}

  /** Refuses a rank that is there, an instance of another model, another block size. */
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

  /** The publishers a body of {@code /unregister} names. */
  static List<PublisherId> chosen(RegistrationSnapshot snapshot, DynamoRequest request) {
    List<Registration> instance =
        snapshot.all().stream()
            .map(Registered::registration)
            .filter(one -> one.publisher().instanceId().equals(request.instanceId()))
            .toList();
    if (instance.isEmpty()) {
      throw notFound("instance " + ApiException.echo(request.instanceId()) + " not found");
    }
    List<Registration> meant =
        instance.stream()
            .filter(one -> one.table().model().equals(request.model()))
            .filter(
                one ->
                    request.group() == null || one.publisher().tenantId().equals(request.group()))
            .toList();
    if (meant.isEmpty()) {
      throw notFound(instance(instance.get(0)) + " is registered for " + of(instance.get(0)));
    }
    List<PublisherId> ranks =
        meant.stream()
            .map(Registration::publisher)
            .filter(
                one -> request.dpRank().isEmpty() || one.dpRank() == request.dpRank().getAsInt())
            .toList();
    if (ranks.isEmpty()) {
      throw notFound(
          instance(meant.get(0)) + " dp_rank " + request.dpRank().orElse(0) + " not found");
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
    return "instance " + ApiException.echo(one.publisher().instanceId());
  }

  private static String of(Registration one) {
    return "model="
        + ApiException.echo(one.table().model())
        + " routing_group="
        + ApiException.echo(one.publisher().tenantId());
  }

  private static ApiException conflict(String field, String text) {
    return ApiException.field(ErrorCode.REGISTRATION_CONFLICT, field, text);
  }

  private static ApiException notFound(String text) {
    return ApiException.of(ErrorCode.SERVICE_NOT_FOUND, text);
  }
}
