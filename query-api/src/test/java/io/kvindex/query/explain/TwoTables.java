// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.explain;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Media;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import io.kvindex.query.DialectAnswers;
import io.kvindex.query.conductor.BareIndex;
import io.kvindex.query.http.EventVisibility;
import io.kvindex.query.http.HttpServer;
import io.kvindex.query.http.HttpSettings;
import io.kvindex.query.http.QueryAnswers;
import io.kvindex.query.http.QueryReply;
import io.kvindex.query.lookup.EmptyIndex;
import io.kvindex.query.lookup.LocalView;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.lookup.Trust;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryForm;
import io.kvindex.query.registration.Registered;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.query.status.PublisherReport;
import io.kvindex.streams.index.PrefixIndex;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * A server over two tables of one model, each with an instance of its own; all dialects, real HTTP.
 * Notes which tables are asked, and can be made slow.
 */
public final class TwoTables extends EmptyIndex implements AutoCloseable {
  private final Map<TableId, BareIndex> tables;
  private final HttpServer server;

  /** Tables whose view was asked for. */
  public final Queue<TableId> asked = new ConcurrentLinkedQueue<>();

  /** Runs whenever a walk is about to begin. */
  public volatile Runnable beforeWalk = () -> {};

  /** Instance {@code e1} is registered for the first one, {@code e2} for the second. */
  public TwoTables(TableId first, TableId second) {
    tables = Map.of(first, new BareIndex(), second, new BareIndex());
    RegistrationSnapshot snapshot =
        RegistrationSnapshot.of(
            List.of(registered("e1", first, 0), registered("e2", second, 1)), Media.standard());
    Explainer explainer =
        new Explainer(
            () -> snapshot,
            this,
            () -> PublisherReport.all(snapshot, publisher -> null, this),
            EventVisibility.UNKNOWN,
            Media.standard());
    QueryAnswers speakers = DialectAnswers.all(() -> snapshot, this);
    server =
        HttpServer.start(
            HttpSettings.DEFAULT.at("127.0.0.1", 0),
            new QueryAnswers() {
              @Override
              public void answer(QueryForm form, QueryBody query, QueryReply reply) {
                speakers.answer(form, query, reply);
              }

              @Override
              public void explain(QueryBody query, Asked how, QueryReply reply) {
                explainer.explain(query, how, reply);
              }
            },
            routes -> {},
            new SimpleMeterRegistry());
  }

  private static Registered registered(String instance, TableId table, int number) {
    Registration one =
        new Registration(
            new PublisherId(instance, table.tenantId(), 0),
            "tcp://127.0.0.1:1",
            null,
            SourceType.VLLM,
            table,
            List.of(""),
            null,
            SourceOptions.of(CopyPolicy.COUNT),
            null);
    return new Registered(one, number);
  }

  /** A table of model {@code m}. */
  public static TableId table(int blockSize, HashProfile profile) {
    return new TableId("default", "m", blockSize, profile);
  }

  /** What a table holds and how far to trust it. */
  public BareIndex in(TableId table) {
    return Objects.requireNonNull(tables.get(table));
  }

  public URI uri(String path) {
    return URI.create("http://127.0.0.1:" + server.port() + path);
  }

  public int port() {
    return server.port();
  }

  @Override
  public @Nullable TableView view(TableId table) {
    asked.add(table);
    BareIndex index = in(table);
    return new LocalView() {
      @Override
      public PrefixIndex index() {
        beforeWalk.run();
        return index.index();
      }

      @Override
      public Trust trust() {
        return index.trust();
      }

      @Override
      public long lagMs() {
        return index.lagMs();
      }

      @Override
      public Set<PublisherId> degradedPublishers() {
        return index.degradedPublishers();
      }
    };
  }

  @Override
  public void close() {
    server.close();
  }
}
