// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Incarnation;
import io.kvindex.model.Media;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import io.kvindex.model.replica.ReplicaId;
import io.kvindex.query.DialectAnswers;
import io.kvindex.query.http.EventVisibility;
import io.kvindex.query.http.HttpServer;
import io.kvindex.query.http.HttpSettings;
import io.kvindex.query.http.RequestObserver;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.registration.Registered;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.query.remote.ReplicaService;
import io.kvindex.query.remote.ReplicatedIndexAccess;
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
  private static final ReplicaId ID = new ReplicaId("127.0.0.1:1", "relay", "0");

  private final LoadShape shape;
  private final BlockHasher hasher = new BlockHasher();
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

  /**
   * Options: {@code --port}, {@code --holder HOST:PORT} and the shape's, see {@code
   * benchmarks/README.md}.
   */
  public static void main(String[] args) {
    LoadOptions options = new LoadOptions(args);
    int port = options.number("port", 13333);
    String holder = options.text("holder", "");
    IndexOnlyServer server = new IndexOnlyServer(LoadShape.of(options));
    options.refuseUnknown();
    HttpServer http = holder.isEmpty() ? server.serve(port) : server.relay(port, holder);
    System.out.println(
        String.format(Locale.ROOT, "ready on port %d: %s", http.port(), server.index.figures()));
  }

  /** Fills the index and serves it, in all dialects. */
  static HttpServer start(LoadShape shape, int port) {
    return new IndexOnlyServer(shape).serve(port);
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
    return hasher.rolled(at == 0, at == 0 ? 0 : keys[at - 1], hasher.local(engineHash));
  }

  private HttpServer serve(int port) {
    fill();
    return serve(port, new FixedIndex(index));
  }

  /** Has nothing itself: all prompts are walked in the replica at {@code holder}. */
  private HttpServer relay(int port, String holder) {
    return serve(
        port,
        new ReplicatedIndexAccess(
            new NoIndex(),
            new HeldElsewhere(),
            ID,
            () -> List.of(holder),
            () -> {},
            new PrometheusMeterRegistry(PrometheusConfig.DEFAULT)));
  }

  private HttpServer serve(int port, IndexAccess access) {
    List<Registered> registered = new ArrayList<>();
    for (int i = 0; i < shape.instances(); i++) {
      registered.add(new Registered(registration(i), i));
    }
    RegistrationSnapshot snapshot = RegistrationSnapshot.of(registered, Media.standard());
    return HttpServer.start(
        HttpSettings.DEFAULT.at("127.0.0.1", port),
        DialectAnswers.all(() -> snapshot, access),
        EventVisibility.UNKNOWN,
        new ReplicaService(access, new HeldElsewhere(), ID),
        routes -> {},
        RequestObserver.NONE,
        new PrometheusMeterRegistry(PrometheusConfig.DEFAULT));
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
