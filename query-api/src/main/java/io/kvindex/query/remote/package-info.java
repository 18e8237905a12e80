// SPDX-License-Identifier: Apache-2.0
/**
 * Walks through tables of other replicas: hashes go there, the owners of their blocks come back.
 *
 * <pre>
 * {@link io.kvindex.query.remote.ReplicatedIndexAccess} own table, or a {@link io.kvindex.query.remote.RemoteView}
 *   {@link io.kvindex.query.remote.Race}                 asks the holders, best first, the next one where one is late
 *     {@link io.kvindex.query.remote.ReplicaClient}      kept connections
 *       {@link io.kvindex.query.remote.ReplicaService}   the other side
 * </pre>
 */
@NullMarked
package io.kvindex.query.remote;

import org.jspecify.annotations.NullMarked;
