// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import static io.kvindex.benchmarks.load.Console.say;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Has a fresh server take over the dump of a loaded one, and compares their answers. */
final class TakeOver {
  private static final int PROMPTS = 256;
  private static final int PRINTED = 5;
  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(25);
  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);
  private static final String FETCHES = "kvindex_peer_fetches_total";
  private static final String BLOCKS = "kvindex_peer_blocks_total";

  private final String host;
  private final int port;
  private final int freshPort;
  private final LoadShape shape;
  private final PromptBodies bodies;
  private final Fleet fleet;
  private final QueryRun run;
  private final List<long[]> before = new ArrayList<>();
  private int compared;
  private int different;

  TakeOver(
      String host,
      int port,
      int freshPort,
      LoadShape shape,
      PromptBodies bodies,
      Fleet fleet,
      QueryRun run) {
    this.host = host;
    this.port = port;
    this.freshPort = freshPort;
    this.shape = shape;
    this.bodies = bodies;
    this.fleet = fleet;
    this.run = run;
  }

  /** Whether all answers were right and the same. */
  boolean isRight() throws Exception {
    fleet.awaitAllVisible();
    fleet.forgetReplays();
    run.churns().forEach(churn -> before.add(churn.chain()));
    try (VisibleSequences fresh =
        new VisibleSequences(host, freshPort, shape.instances(), POLL_NS)) {
      run.churnUntil(CompletableFuture.runAsync(this::takeOver));
      CompletableFuture<Void> all = CompletableFuture.runAsync(() -> awaitSame(fresh));
      fleet.awaitAllVisible();
      while (!all.isDone()) {
        fleet.serve();
        LockSupport.parkNanos(POLL_NS);
      }
      all.get();
    }
    compare();
    say("answers compared        %,d, different %,d", compared, different);
    return different == 0;
  }

  private void takeOver() {
    try (ControlClient control = new ControlClient(host, freshPort)) {
      long start = System.nanoTime();
      control.post("/register_peer", "{\"url\":\"http://" + host + ":" + port + "\"}");
      await(() -> control.metric(FETCHES, "") > 0);
      say("dump fetched            %.1f s", (System.nanoTime() - start) / 1e9);
      start = System.nanoTime();
      fleet.register(host, freshPort);
      await(() -> control.metric("kvindex_peer_held", "") == 0);
      say(
          "imported                %,.0f blocks in %.1f s with the registrations; not imported %,.0f",
          control.metric(BLOCKS, "outcome=\"imported\""),
          (System.nanoTime() - start) / 1e9,
          control.metric(BLOCKS, "") - control.metric(BLOCKS, "outcome=\"imported\""));
    } catch (IOException e) {
      throw new CompletionException(e);
    }
  }

  private void awaitSame(VisibleSequences fresh) {
    try {
      for (int i = 0; i < fleet.size(); i++) {
        int publisher = i;
        await(() -> fresh.of(publisher) >= fleet.get(publisher).lastSequence());
      }
    } catch (IOException e) {
      throw new CompletionException(e);
    }
  }

  private interface Condition {
    boolean holds() throws IOException;
  }

  private static void await(Condition condition) throws IOException {
    long start = System.nanoTime();
    while (!condition.holds()) {
      if (System.nanoTime() - start > TIMEOUT_NS) {
        throw new IOException("the fresh server did not get there within 60 s");
      }
      LockSupport.parkNanos(POLL_NS);
    }
  }

  /**
   * The prompts of the shape, whose answers are known; what each publisher stored last, and what it
   * had stored last when the dump began, most of which it has removed since.
   */
  private void compare() throws IOException {
    AnswerCheck check = new AnswerCheck(shape, bodies);
    try (ControlClient first = new ControlClient(host, port);
        ControlClient second = new ControlClient(host, freshPort)) {
      for (int i = 0; i < Math.min(PROMPTS, shape.prompts()); i++) {
        int prompt = i * shape.prompts() / Math.min(PROMPTS, shape.prompts());
        byte[] request = bodies.request(prompt);
        byte[] answer = second.send(request);
        String difference = check.difference(prompt, answer);
        JsonNode other = ControlClient.JSON.readTree(first.send(request));
        differs(difference, other.equals(ControlClient.JSON.readTree(answer)));
      }
      List<long[]> chains = new ArrayList<>(before);
      run.churns().forEach(churn -> chains.add(churn.chain()));
      for (long[] chain : chains) {
        String body = query(chain);
        JsonNode one = first.post("/query", body);
        JsonNode two = second.post("/query", body);
        differs(one.equals(two) ? null : one + " and " + two, one.equals(two));
      }
    }
  }

  private void differs(@Nullable String difference, boolean same) {
    compared++;
    if (difference != null || !same) {
      different++;
      if (different <= PRINTED) {
        say("different: %s", difference == null ? "the first server is wrong" : difference);
      }
    }
  }

  private static String query(long[] chain) {
    StringBuilder tokens = new StringBuilder();
    for (long hash : chain) {
      for (int k = 0; k < LoadShape.BLOCK_SIZE; k++) {
        tokens.append(tokens.isEmpty() ? "" : ",").append(LoadShape.token(hash, k));
      }
    }
    return "{\"model\":\"load\",\"block_size\":16,\"token_ids\":[" + tokens + "]}";
  }
}
