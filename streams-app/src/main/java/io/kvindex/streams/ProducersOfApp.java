// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/** Who writes in transactions for an application, and who is still there to end them. */
interface ProducersOfApp {

  /** Transactional ids of the cluster that have a transaction which is neither over nor ending. */
  Set<String> ongoing() throws InterruptedException, ExecutionException, TimeoutException;

  /** Client ids of the application's group. */
  Set<String> members() throws InterruptedException, ExecutionException, TimeoutException;

  /** Aborts what these have begun; whoever still writes with such an id is refused. */
  void fence(Set<String> transactionalIds)
      throws InterruptedException, ExecutionException, TimeoutException;
}
