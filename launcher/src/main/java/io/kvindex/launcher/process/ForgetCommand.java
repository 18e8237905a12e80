// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.launcher.rewind.CopyGroup;
import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.replica.ReplicaDirectory;
import io.kvindex.model.replica.ReplicaLog;
import io.kvindex.streams.CopyConfig;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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

  private static final Duration READ_WITHIN = Duration.ofSeconds(10);

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
      PrintWriter out = spec.commandLine().getOut();
      out.println(
          "kvindex forget: "
              + (found
                  ? "group " + group + " is deleted"
                  : "there is no group " + group + " in that cluster"));
      out.println("kvindex forget: " + addresses(kafka));
      out.flush();
      return 0;
    } finally {
      admin.close(CLOSE);
    }
  }

  /** Takes its addresses out of {@code kvindex.replicas}. */
  private String addresses(Map<String, Object> kafka) throws InterruptedException {
    try (ReplicaDirectory directory = new ReplicaDirectory(kafka)) {
      if (!directory.await(READ_WITHIN)) {
        throw new IllegalStateException(
            "Kafka does not tell of the replicas within "
                + READ_WITHIN.toSeconds()
                + " s: try again, else others go on asking for copy "
                + copy);
      }
      try (ReplicaLog log = new ReplicaLog(kafka, directory)) {
        List<String> forgotten = log.forget(copy);
        return forgotten.isEmpty()
            ? "no address of it is known to others"
            : "others no longer ask " + String.join(", ", forgotten);
      }
    }
  }
}
