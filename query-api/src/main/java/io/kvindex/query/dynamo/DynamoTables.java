// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.dynamo;

import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.query.registration.TableRows;
import java.util.List;
import java.util.NavigableMap;
import java.util.stream.Collectors;

/**
 * Which tables a query of this dialect means. It names no block size: theirs is fixed by the first
 * registration. Here other dialects may have registered further ones, so the one of Dynamo's
 * registrations counts, which are told by their hash rule; else the only one.
 */
final class DynamoTables {
  private DynamoTables() {}

  /**
   * The tables of the query, one unless two hash profiles crossed.
   *
   * @throws ApiException 404 if nothing is registered, 409 if the block size is open
   */
  static List<TableRows> of(RegistrationSnapshot snapshot, QueryBody query) {
    NavigableMap<Integer, List<TableRows>> sizes = snapshot.tables(query.tenant(), query.model());
    List<TableRows> found =
        query.blockSize() == QueryBody.NO_BLOCK_SIZE
            ? ofOneSize(sizes, query)
            : sizes.getOrDefault(query.blockSize(), List.of());
    if (found.isEmpty()) {
      throw ApiException.of(
          ErrorCode.NOT_FOUND,
          "no indexer for model="
              + ApiException.echo(query.model())
              + " routing_group="
              + ApiException.echo(query.tenant()));
    }
    return found;
  }

  private static List<TableRows> ofOneSize(
      NavigableMap<Integer, List<TableRows>> sizes, QueryBody query) {
    if (sizes.size() <= 1) {
      return sizes.isEmpty() ? List.of() : sizes.firstEntry().getValue();
    }
    List<List<TableRows>> theirs =
        sizes.values().stream().filter(DynamoTables::hasDynamos).toList();
    if (theirs.size() == 1) {
      return theirs.get(0);
    }
    throw ApiException.field(
        ErrorCode.REGISTRATION_CONFLICT,
        "block_size",
        "several block sizes are registered for model="
            + ApiException.echo(query.model())
            + " routing_group="
            + ApiException.echo(query.tenant())
            + ", say which `block_size`: "
            + sizes.keySet().stream().map(Object::toString).collect(Collectors.joining(", ")));
  }

  private static boolean hasDynamos(List<TableRows> tables) {
    for (TableRows rows : tables) {
      if (rows.table().hashProfile().algorithm() == Algorithm.XXH3_DYNAMO) {
        return true;
      }
    }
    return false;
  }
}
