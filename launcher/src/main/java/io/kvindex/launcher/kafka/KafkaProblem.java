// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.kafka;

import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.SslAuthenticationException;
import org.apache.kafka.common.errors.UnsupportedSaslMechanismException;
import org.jspecify.annotations.Nullable;

/** Why Kafka can not be used, and what to do about it, in one sentence for people. */
public final class KafkaProblem {

  private KafkaProblem() {}

  /** What a client said, and what to do where that can be told; never a setting's value. */
  public static String of(Throwable problem) {
    Throwable deepest = problem;
    while (deepest.getCause() != null) {
      deepest = deepest.getCause();
    }
    for (Throwable e = problem; e != null; e = e.getCause()) {
      String hint = hint(e);
      if (hint != null) {
        return said(e) + (e == deepest ? "" : " (" + said(deepest) + ")") + ": " + hint;
      }
    }
    return said(deepest);
  }

  /** Whether brokers that are being restarted look like this. */
  public static boolean maySolveItself(Throwable problem) {
    boolean late = false;
    for (Throwable e = problem; e != null; e = e.getCause()) {
      if (e instanceof AuthenticationException || e instanceof SSLException) {
        return false;
      }
      late |= e instanceof TimeoutException || e instanceof RetriableException;
    }
    return late;
  }

  private static @Nullable String hint(Throwable e) {
    if (e instanceof UnsupportedSaslMechanismException) {
      return "set sasl.mechanism to one the listener has";
    }
    if (e instanceof SaslAuthenticationException) {
      return "check user and password in sasl.jaas.config, and sasl.mechanism, of the Kafka settings (--kafka-config)";
    }
    if (e instanceof SslAuthenticationException || e instanceof SSLException) {
      return "check ssl.truststore.* (who signed the brokers' certificates), that the certificates name the hosts of"
          + " --kafka, and ssl.keystore.* where brokers ask clients for one";
    }
    if (e instanceof AuthorizationException) {
      return "give the user of sasl.jaas.config the rights that docs/operate/security.md lists";
    }
    if (e instanceof TimeoutException
        || e instanceof org.apache.kafka.common.errors.TimeoutException) {
      return "is the address right, does a broker run there, and does its listener speak the security.protocol of the"
          + " Kafka settings (--kafka-config)?";
    }
    return null;
  }

  private static String said(Throwable e) {
    String said = e.getMessage();
    return said == null || said.isBlank()
        ? e instanceof TimeoutException ? "no answer in time" : e.getClass().getSimpleName()
        : said;
  }
}
