// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Incarnation;
import io.kvindex.model.Media;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.SeqHash;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import io.kvindex.query.conductor.ConductorAnswers;
import io.kvindex.query.http.HttpServer;
import io.kvindex.query.http.HttpSettings;
import io.kvindex.query.registration.Registered;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.PrefixIndex;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What do HTTP, parsing and the index cost alone? Serves {@code /query} from an index filled in
 * memory with a {@link LoadShape}: no Kafka, no bridge, no ingest. Ask it with {@code QueryLoad
 * --publish 0} and the same shape options; the difference to the whole server is what the rest
 * takes from the two cores.
 */
public final class IndexOnlyServer {
  private final LoadShape shape;
  private final SeqHash rule = new SeqHash(HashProfile.XXH3_DEFAULT.xxh3Seed());
  private final TableId table =
      new TableId(
          PublisherId.DEFAULT_TENANT,
          LoadShape.MODEL,
          LoadShape.BLOCK_SIZE,
          HashProfile.XXH3_DEFAULT);
  private final PrefixIndex index = new PrefixIndex();
  private final int[] device;
  private final int[] host;

  private IndexOnlyServer(LoadShape shape) {
    this.shape = shape;
    device = new int[shape.instances()];
    host = new int[shape.instances()];
    for (int i = 0; i < device.length; i++) {
      device[i] = index.addOwner(owner(i, "GPU"));
      host[i] = index.addOwner(owner(i, "CPU"));
    }
  }

  /** Options: {@code --port} and the shape's, see {@code benchmarks/README.md}. */
  public static void main(String[] args) {
    LoadOptions options = new LoadOptions(args);
    int port = options.number("port", 13333);
    IndexOnlyServer server = new IndexOnlyServer(LoadShape.of(options));
    options.refuseUnknown();
    server.fill();
    server.serve(port);
  }

  private static Owner owner(int instance, String medium) {
    return new Owner(
        PublisherId.DEFAULT_TENANT,
        LoadShape.instanceName(instance),
        0,
        0,
        medium,
        false,
        null,
        new Incarnation(1, 1, 0));
  }

  private void fill() {
    for (int stem = 0; stem < shape.stems(); stem++) {
      long[] keys = new long[shape.promptBlocks()];
      for (int block = 0; block < shape.stemBlocks(); block++) {
        keys[block] = next(keys, block, shape.stemHash(stem, block));
        for (int i = 0; i < shape.instances(); i++) {
          boolean onDevice = block < shape.deviceBlocksOfStem(stem, i);
          index.add(keys[block], onDevice ? device[i] : host[i]);
        }
      }
      for (int prompt = stem; prompt < shape.prompts(); prompt += shape.stems()) {
        fillTail(prompt, keys);
      }
    }
  }

  private void fillTail(int prompt, long[] keys) {
    for (int block = 0; block < shape.tailBlocks(); block++) {
      int at = shape.stemBlocks() + block;
      keys[at] = next(keys, at, shape.tailHash(prompt, block));
      for (int i = 0; i < shape.instances(); i++) {
        if (block < shape.tailBlocksHeld(prompt, i)) {
          index.add(keys[at], shape.tailOnDevice(prompt, i) ? device[i] : host[i]);
        }
      }
    }
  }

  private long next(long[] keys, int at, long engineHash) {
    int[] tokens = new int[LoadShape.BLOCK_SIZE];
    for (int k = 0; k < tokens.length; k++) {
      tokens[k] = LoadShape.token(engineHash, k);
    }
    long local = rule.local(tokens, 0, tokens.length);
    return at == 0 ? local : rule.roll(keys[at - 1], local);
  }

  private void serve(int port) {
    List<Registered> registered = new ArrayList<>();
    for (int i = 0; i < shape.instances(); i++) {
      registered.add(new Registered(registration(i), i));
    }
    RegistrationSnapshot snapshot = RegistrationSnapshot.of(registered, Media.standard());
    HttpServer server =
        HttpServer.start(
            HttpSettings.DEFAULT.at("127.0.0.1", port),
            new ConductorAnswers(() -> snapshot, new FixedIndex(index)),
            routes -> {},
            new PrometheusMeterRegistry(PrometheusConfig.DEFAULT));
    System.out.println(
        String.format(Locale.ROOT, "ready on port %d: %s", server.port(), index.figures()));
  }

  private Registration registration(int instance) {
    return new Registration(
        new PublisherId(LoadShape.instanceName(instance), PublisherId.DEFAULT_TENANT, 0),
        "tcp://127.0.0.1:1",
        null,
        SourceType.VLLM,
        table,
        List.of(""),
        null,
        SourceOptions.of(CopyPolicy.COUNT),
        null);
  }
}
