// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.streams.topology.IndexTopology;
import java.io.PrintWriter;

/** What whoever started a take-over is told of it. */
record TakeOverReport(PrintWriter out) {

  /** One line, as {@link String#format}. */
  void say(String text, Object... arguments) {
    out.printf("  " + text + "%n", arguments);
    out.flush();
  }

  /** What an application has in Kafka stays there. */
  void leftOver(String application) {
    say(
        "left in Kafka: group %1$s and topic %2$s. When no replica is in that group any more, and /cluster"
            + " says that it does not serve: kafka-consumer-groups.sh --delete --group %1$s;"
            + " kafka-topics.sh --delete --topic %2$s",
        application, IndexTopology.changelogOf(application));
  }
}
