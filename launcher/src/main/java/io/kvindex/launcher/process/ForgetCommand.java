// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.launcher.rewind.CopyGroup;
import io.kvindex.model.kafka.ClientKind;
import io.kvindex.streams.CopyConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.kafka.clients.admin.Admin;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Deletes what a copy that is gone for good has left in Kafka. */
@Command(
    name = "forget",
    description = {
      "Deletes what a copy that is gone for good has left in Kafka.",
      "",
      "Stop its processes first. Its directory is not touched: delete it by hand.",
      ""
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class ForgetCommand implements Callable<Integer> {

  /** Unbounded, closing would wait for a cluster that does not answer. */
  private static final Duration CLOSE = Duration.ofSeconds(1);

  @Spec private CommandSpec spec;
  @Mixin private KafkaOptions cluster;

  @Option(
      names = "--copy",
      required = true,
      paramLabel = "NAME",
      description = "Name of the copy, as kvindex index and kvindex replay take it.")
  private String copy;

  @Override
  public Integer call() throws InterruptedException {
    Map<String, Object> kafka = cluster.kafka();
    String group = CopyConfig.of(kafka, copy, Path.of("")).applicationId();
    Admin admin = Admin.create(ClientKind.ADMIN.settings(kafka, Map.of()));
    try {
      boolean found = new CopyGroup(admin, copy, group).delete();
      spec.commandLine()
          .getOut()
          .println(
              "kvindex forget: "
                  + (found
                      ? "group " + group + " is deleted"
                      : "there is no group " + group + " in that cluster"));
      return 0;
    } finally {
      admin.close(CLOSE);
    }
  }
}
