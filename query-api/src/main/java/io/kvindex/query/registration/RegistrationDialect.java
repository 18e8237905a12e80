// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import io.javalin.http.Context;

/** How one dialect registers and unregisters. Called by many server threads at once; may block. */
public interface RegistrationDialect {

  /**
   * Registers and answers.
   *
   * @param body as received
   * @throws io.kvindex.query.error.ApiException to refuse
   */
  void register(Context ctx, byte[] body);

  /** Unregisters, otherwise the same. */
  void unregister(Context ctx, byte[] body);
}
