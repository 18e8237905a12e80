// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;

@Timeout(30)
class ContextEndTest {

  @Test
  void waitsForASocketThatIsLeftOpenNoLongerThanItShould() throws Exception {
    ZMQ.Context context = ZMQ.context(1);
    ZMQ.Socket open = context.socket(SocketType.SUB);

    assertThat(IoLoop.end(context, Duration.ofMillis(50))).isFalse();

    open.close();
  }

  @Test
  void endsWhatIsClosed() throws Exception {
    ZMQ.Context context = ZMQ.context(1);
    context.socket(SocketType.SUB).close();

    assertThat(IoLoop.end(context, Duration.ofSeconds(20))).isTrue();
  }
}
