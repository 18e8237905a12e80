// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLHandshakeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.SslAuthenticationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnsupportedSaslMechanismException;
import org.junit.jupiter.api.Test;

class KafkaProblemTest {

  private static String said(Exception cause) {
    return KafkaProblem.of(new ExecutionException(cause));
  }

  @Test
  void shouldSayWhatToCheck() {
    assertThat(said(new SaslAuthenticationException("Authentication failed")))
        .startsWith("Authentication failed: check user and password");
    assertThat(said(new UnsupportedSaslMechanismException("no PLAIN here")))
        .startsWith("no PLAIN here: set sasl.mechanism");
    assertThat(
            said(
                new SslAuthenticationException(
                    "SSL handshake failed", new SSLHandshakeException("no path"))))
        .startsWith("SSL handshake failed (no path): check ssl.truststore");
    assertThat(said(new TopicAuthorizationException("Not authorized")))
        .contains("give the user", "docs/operate/security.md");
    assertThat(KafkaProblem.of(new TimeoutException()))
        .startsWith("no answer in time: is the address right");
    assertThat(said(new org.apache.kafka.common.errors.TimeoutException("Timed out")))
        .startsWith("Timed out: is the address right")
        .contains("security.protocol");
  }

  @Test
  void shouldSayTheDeepestCause_whenThereIsNoAdvice() {
    assertThat(said(new KafkaException("failed", new IllegalArgumentException("no such file"))))
        .isEqualTo("no such file");
    assertThat(said(new IllegalStateException())).isEqualTo("IllegalStateException");
  }
}
