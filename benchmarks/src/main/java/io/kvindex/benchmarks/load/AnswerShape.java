// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.query.dialect.WorkerId;
import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessageUnpacker;

/** What each dialect has to answer to a prompt of a {@link LoadShape}, number by number. */
enum AnswerShape {
  /** {@code {tenant: {instance: row}}}: holes allowed, each medium counts what it holds. */
  CONDUCTOR {
    @Override
    ObjectNode expected(LoadShape shape, int prompt) {
      ObjectNode answer = NODES.objectNode();
      ObjectNode rows = answer.putObject("default");
      for (int i = 0; i < shape.instances(); i++) {
        int longest = shape.longest(prompt, i);
        int device = shape.onDevice(prompt, i);
        ObjectNode row = rows.putObject(LoadShape.instanceName(i));
        row.put("longest_matched", longest).put("GPU", device).put("CPU", longest - device);
        row.put("DISK", 0).putObject("DP").put("0", longest);
      }
      return answer;
    }
  },

  /** MessagePack {@code {instances: {id: row}}}: a cursor per rank goes down the tiers. */
  BINARY {
    @Override
    JsonNode parse(byte[] answer) throws IOException {
      try (MessageUnpacker unpacker = MessagePack.newDefaultUnpacker(answer)) {
        return ControlClient.JSON.readTree(unpacker.unpackValue().toJson());
      }
    }

    @Override
    ObjectNode expected(LoadShape shape, int prompt) {
      ObjectNode answer = NODES.objectNode();
      ObjectNode rows = answer.putObject("instances");
      for (int i = 0; i < shape.instances(); i++) {
        ObjectNode row = row(shape, prompt, i);
        ObjectNode rank = row.putObject("rank_matches").putObject("0");
        tiers(rank, shape, prompt, i);
        rows.set(LoadShape.instanceName(i), row);
      }
      return answer;
    }
  },

  /** {@code {scores, frequencies, instances}} in tokens, by the same rule. */
  SCORES {
    @Override
    ObjectNode expected(LoadShape shape, int prompt) {
      ObjectNode answer = NODES.objectNode();
      ObjectNode scores = answer.putObject("scores");
      answer.putArray("frequencies");
      ObjectNode rows = answer.putObject("instances");
      for (int i = 0; i < shape.instances(); i++) {
        rows.set(LoadShape.instanceName(i), row(shape, prompt, i));
        scores.putObject(LoadShape.instanceName(i)).put("0", shape.throughDevice(prompt, i));
      }
      return answer;
    }
  },

  /** {@code {block_size, tiered}} in blocks: what each tier adds to the one above it. */
  TIERS {
    @Override
    ObjectNode expected(LoadShape shape, int prompt) {
      ArrayNode device = NODES.arrayNode();
      ArrayNode host = NODES.arrayNode();
      List<Integer> byName =
          IntStream.range(0, shape.instances())
              .boxed()
              .sorted((a, b) -> LoadShape.instanceName(a).compareTo(LoadShape.instanceName(b)))
              .toList();
      for (int i : byName) {
        int onDevice = shape.throughDevice(prompt, i);
        hit(device, i, onDevice);
        hit(host, i, shape.throughHost(prompt, i) - onDevice);
      }
      ObjectNode answer = NODES.objectNode().put("block_size", LoadShape.BLOCK_SIZE);
      ObjectNode tiered = answer.putObject("tiered");
      tiered.putObject("device").putArray("frequencies");
      tiered.withObject("/device").set("scores", device);
      ArrayNode lower = tiered.putArray("lower_tier");
      if (!host.isEmpty()) {
        lower.addArray().add("host_pinned").addObject().set("hits", host);
      }
      return answer;
    }

    private void hit(ArrayNode hits, int instance, int tokens) {
      if (tokens > 0) {
        ArrayNode hit = hits.addArray();
        hit.addObject()
            .put("worker_id", WorkerId.of(LoadShape.instanceName(instance)))
            .put("dp_rank", 0);
        hit.add(tokens / LoadShape.BLOCK_SIZE);
      }
    }
  };

  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  /** The answer to one prompt. */
  abstract ObjectNode expected(LoadShape shape, int prompt);

  /** An answer's bytes as a tree. */
  JsonNode parse(byte[] answer) throws IOException {
    return ControlClient.JSON.readTree(answer);
  }

  private static ObjectNode row(LoadShape shape, int prompt, int instance) {
    ObjectNode row = NODES.objectNode();
    row.put("longest_matched", shape.throughHost(prompt, instance));
    row.putObject("dp").put("0", shape.throughDevice(prompt, instance));
    tiers(row, shape, prompt, instance);
    return row;
  }

  private static void tiers(ObjectNode row, LoadShape shape, int prompt, int instance) {
    int longest = shape.throughHost(prompt, instance);
    row.put("gpu", shape.throughDevice(prompt, instance)).put("cpu", longest).put("disk", longest);
  }
}
