// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import io.kvindex.model.TableId;
import java.util.List;
import java.util.Set;

/**
 * What is registered for one (tenant, model, block size).
 *
 * @param tables the tables to look in: one, or several after a race between two hash profiles
 * @param instances rows of an answer, by name; pools are none
 * @param pools registrations of pools with that tenant, model and block size
 * @param namespaces distinct namespaces of the instances and pools, empty text for none
 */
public record RegisteredTable(
    List<TableId> tables,
    List<RegisteredInstance> instances,
    List<Registered> pools,
    Set<String> namespaces) {
  public RegisteredTable {
    tables = List.copyOf(tables);
    instances = List.copyOf(instances);
    pools = List.copyOf(pools);
    namespaces = Set.copyOf(namespaces);
  }
}
