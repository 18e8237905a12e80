// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.sandbox.broker.EmbeddedBroker;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Takes topics that were deleted and created again for the site's own. */
@Command(
    name = "repair",
    description = {
      "Makes a site work again whose topics were deleted and created again.",
      "",
      "Bridges and indexes refuse to start with such topics. Stop all of them first. Every engine becomes a new",
      "generation: what was announced before leaves the answers and is learnt anew from the engines' replay. Where",
      "registrations are lost, register again.",
      ""
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class RepairCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;
  @Mixin private ClusterOptions cluster;

  @Option(
      names = "--data-dir",
      paramLabel = "DIR",
      description = "Data directory of a stopped 'kvindex all', instead of --kafka.")
  private @Nullable Path dataDir;

  @Option(
      names = "--force",
      description = "Begin a new epoch even if the topics are the site's own.")
  private boolean force;

  @Override
  public Integer call() throws InterruptedException {
    List<String> others;
    if (dataDir == null) {
      others = cluster.repairTopics(force);
    } else {
      try (EmbeddedBroker broker = EmbeddedBroker.start(dataDir.resolve("kafka"))) {
        others = AllInOne.repairTopics(broker.bootstrapServers(), force);
      }
    }
    String about = others.isEmpty() ? "" : ", topics created again: " + String.join(", ", others);
    spec.commandLine()
        .getOut()
        .println(
            "kvindex repair: "
                + (others.isEmpty() && !force
                    ? "nothing to repair"
                    : "a new epoch has begun" + about + "; start bridges and indexes again"));
    return 0;
  }
}
