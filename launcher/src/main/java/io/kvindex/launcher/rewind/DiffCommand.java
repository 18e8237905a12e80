// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.launcher.rewind.Comparison.Pair;
import io.kvindex.launcher.rewind.Replica.Part;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Compares two replicas by what each owner holds. */
@Command(
    name = "diff",
    description = {
      "Compares two replicas, of whichever copies, by what each owner holds, and lists differences.",
      "",
      "Waits until both have applied the same records. Copies that were folded from different records on",
      "can not be compared. Exit code: 0 the same, 1 different, 2 not comparable.",
      ""
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class DiffCommand implements Callable<Integer> {

  static final int SAME = 0;
  static final int DIFFERENT = 1;
  static final int NOT_COMPARABLE = 2;

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  @Spec private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "A", description = "HTTP address of one side.")
  private String first;

  @Parameters(index = "1", paramLabel = "B", description = "HTTP address of the other.")
  private String second;

  @Option(
      names = "--wait",
      paramLabel = "SECONDS",
      description =
          "Longest wait until both have applied the same records (default: ${DEFAULT-VALUE}).",
      defaultValue = "30")
  private int waitSeconds;

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "Blocks to list of each owner that differs (default: ${DEFAULT-VALUE}).",
      defaultValue = "10")
  private int limit;

  @Option(names = "--tenant", paramLabel = "ID", description = "Only that tenant's owners.")
  private @Nullable String tenant;

  @Option(names = "--model", paramLabel = "NAME", description = "Only that model's owners.")
  private @Nullable String model;

  @Option(names = "--instance", paramLabel = "ID", description = "Only that instance's owners.")
  private @Nullable String instance;

  @Override
  public Integer call() throws InterruptedException {
    try {
      return compare(Replica.at(first), Replica.at(second));
    } catch (IOException | IllegalArgumentException e) {
      // The code of a command that failed would say that they differ.
      spec.commandLine().getErr().println("kvindex diff: " + e.getMessage());
      return NOT_COMPARABLE;
    }
  }

  private int compare(Replica a, Replica b) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(waitSeconds);
    Comparison now = look(a, b);
    while (!now.isComparable() && !now.isOfTwoLineages() && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(PAUSE_NANOS);
      now = look(a, b);
    }
    int result = now.isSame() ? SAME : now.isComparable() ? DIFFERENT : NOT_COMPARABLE;
    return report(now, result, a, b);
  }

  private Comparison look(Replica a, Replica b) throws IOException, InterruptedException {
    Map<String, String> filters = filters();
    CompletableFuture<Map<Integer, Part>> other =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return b.digests(filters);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CompletionException(e);
              }
            });
    Map<Integer, Part> mine = a.digests(filters);
    try {
      return Comparison.of(mine, other.join(), !filters.isEmpty());
    } catch (CompletionException e) {
      if (e.getCause() instanceof UncheckedIOException failed) {
        throw new IOException(Objects.requireNonNull(failed.getCause()).getMessage(), e);
      }
      throw e;
    }
  }

  private Map<String, String> filters() {
    Map<String, String> filters = new TreeMap<>();
    put(filters, "tenant_id", tenant);
    put(filters, "model", model);
    put(filters, "instance_id", instance);
    return filters;
  }

  private static void put(Map<String, String> filters, String name, @Nullable String value) {
    if (value != null) {
      filters.put(name, value);
    }
  }

  private int report(Comparison now, int result, Replica a, Replica b)
      throws IOException, InterruptedException {
    PrintWriter out = spec.commandLine().getOut();
    int empty = 0;
    for (Map.Entry<Integer, Pair> one : now.both().entrySet()) {
      Pair pair = one.getValue();
      if (pair.isComparable() && pair.isSame() && pair.a().owners().isEmpty()) {
        empty++;
      } else {
        report(one.getKey(), pair, a, b, out);
      }
    }
    if (empty > 0) {
      out.printf("%d partitions hold nothing on either side%n", empty);
    }
    now.onlyA().forEach(one -> out.printf("partition %d: not in B, not compared%n", one));
    now.onlyB().forEach(one -> out.printf("partition %d: not in A, not compared%n", one));
    out.println(
        switch (result) {
          case SAME -> "the same" + asFarAsCompared(now);
          case DIFFERENT -> "different";
          default ->
              "not comparable" + (now.both().isEmpty() ? ": they have no partition in common" : "");
        });
    out.flush();
    return result;
  }

  /** One side may be a replica that holds some partitions only. */
  private static String asFarAsCompared(Comparison now) {
    int left = now.onlyA().size() + now.onlyB().size();
    return left == 0 ? "" : " as far as compared: " + left + " partitions are on one side only";
  }

  private void report(int partition, Pair pair, Replica a, Replica b, PrintWriter out)
      throws IOException, InterruptedException {
    if (pair.problem() != null) {
      out.printf("partition %d: %s%n", partition, pair.problem());
      return;
    }
    out.printf(
        "partition %d: %s at offset %d, A: %d owners, %d blocks, B: %d owners, %d blocks%n",
        partition,
        pair.isSame() ? "the same" : "different",
        pair.a().offset(),
        pair.a().owners().size(),
        pair.a().blocks(),
        pair.b().owners().size(),
        pair.b().blocks());
    if (!pair.sameStreams()) {
      out.printf(
          "  positions or gaps of streams differ, A: %d streams, %d records held back, B: %d, %d%n",
          pair.a().streams(), pair.a().held(), pair.b().streams(), pair.b().held());
    }
    for (String id : pair.differing()) {
      @Nullable JsonNode inA = pair.a().owners().get(id);
      @Nullable JsonNode inB = pair.b().owners().get(id);
      out.printf("  %s: A: %s, B: %s%n", name(pair.owner(id)), blocks(inA), blocks(inB));
      List<String> rows =
          new RowDifferences(limit).of(id, inA == null ? null : a, inB == null ? null : b);
      rows.forEach(row -> out.println("    " + row));
      if (rows.size() == limit) {
        out.println("    (no more are listed, see --limit)");
      }
    }
  }

  private static String name(JsonNode owner) {
    return owner.path("instance_id").asText()
        + " rank "
        + owner.path("rank").asText()
        + " "
        + owner.path("medium").asText("(no medium)")
        + " of "
        + owner.path("tenant_id").asText()
        + "/"
        + owner.path("model").asText()
        + "/"
        + owner.path("block_size").asText()
        + ", generation "
        + owner.path("generation").asText()
        + " life "
        + owner.path("life").asText();
  }

  private static String blocks(@Nullable JsonNode owner) {
    return owner == null ? "nothing" : owner.path("blocks").asText() + " blocks";
  }
}
