// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.view;

/**
 * What an owner holds, in three numbers that do not depend on the order it was read in.
 *
 * @param blocks distinct blocks queries may find
 * @param waiting distinct blocks whose prefix is not known
 * @param sum of the hashes of all its residency rows: engine hash, attention group, copies, key in
 *     the index
 */
public record OwnerDigest(OwnerIdentity owner, long blocks, long waiting, long sum) {}
