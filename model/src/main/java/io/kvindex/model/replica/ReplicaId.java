// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.replica;

/**
 * Who a replica is, for as long as its process lives.
 *
 * @param address {@code host:port} others reach it at
 * @param copy name of the copy of the tables it keeps
 * @param version of its program, for people
 */
public record ReplicaId(String address, String copy, String version) {}
