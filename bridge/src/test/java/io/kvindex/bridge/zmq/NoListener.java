// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

/** For tests that do not ask about connections. */
final class NoListener implements IoLoop.Listener {
  @Override
  public void connected() {}

  @Override
  public void disconnected() {}
}
