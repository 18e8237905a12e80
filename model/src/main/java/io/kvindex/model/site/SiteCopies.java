// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.site;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/** Both copies of the site's record. Others may write to them at any moment. */
interface SiteCopies {

  /** What they hold now. */
  SiteContent read() throws TimeoutException;

  /** Appends to both; returns when that is durable. */
  void write(SiteRecord record) throws InterruptedException, ExecutionException, TimeoutException;
}
