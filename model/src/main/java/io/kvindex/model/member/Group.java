// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.member;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/** Members of a Kafka group by their names; each call waits 3 s at most. */
interface Group extends AutoCloseable {

  /** Names of all members that have one, and the address Kafka sees each come from. */
  Map<String, String> hosts() throws InterruptedException, ExecutionException, TimeoutException;

  /** Has some of them leave at once; their share of the work goes to the others. */
  void remove(Set<String> names) throws InterruptedException, ExecutionException, TimeoutException;

  @Override
  void close();
}
