// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.event.RecordReader;
import io.kvindex.query.deadline.Deadline;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.http.ReplicaQuestions;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.lookup.Walk;
import io.kvindex.streams.IndexPartitions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Walks through tables of this process for other replicas; never asks others in turn. */
public final class ReplicaService implements ReplicaQuestions {
  static final String WALK = "/replica/walk";
  static final String NAMES = "/replica/names";
  static final String STATUS = "/replica/status";

  /** Which application's table this replica answers queries from; about no table itself. */
  static final String SERVING = "/replica/serving";

  private final Tables tables;
  private final ThreadLocal<Walk> walks = ThreadLocal.withInitial(Walk::new);

  /** The tables of this process: one, or two while one takes the other's place. */
  public interface Tables {

    /** One application's, null = it is not here. */
    @Nullable Held of(String application);

    /** Application id of the one queries are answered from. */
    String serving();

    /** A single one. */
    static Tables only(String application, IndexAccess own, IndexPartitions partitions) {
      Held held = new Held(own, partitions);
      return new Tables() {
        @Override
        public @Nullable Held of(String wanted) {
          return wanted.equals(application) ? held : null;
        }

        @Override
        public String serving() {
          return application;
        }
      };
    }
  }

  /**
   * A table of this process.
   *
   * @param own tables of this process alone
   * @param partitions the same by partition
   */
  public record Held(IndexAccess own, IndexPartitions partitions) {}

  private interface Reply {
    byte[] to(byte[] question, Held held);
  }

  public ReplicaService(Tables tables) {
    this.tables = tables;
  }

  @Override
  public Map<String, Answer> byPath() {
    return Map.of(
        WALK,
        about(this::walk),
        NAMES,
        about(this::names),
        STATUS,
        about(this::status),
        SERVING,
        question -> new ServingAnswer(tables.serving()).encode());
  }

  /** Refuses questions about tables that are not here: another one must not answer them. */
  private Answer about(Reply reply) {
    return question -> {
      Addressed addressed = read(() -> Addressed.decode(question));
      Held held = tables.of(addressed.application());
      if (held == null) {
        throw ApiException.of(
            ErrorCode.NOT_READY,
            "this replica has no table of application " + addressed.application());
      }
      String cluster = held.partitions().cluster();
      if (!addressed.isOf(cluster)) {
        throw ApiException.of(
            ErrorCode.NOT_READY,
            "this replica's tables are of Kafka cluster "
                + cluster
                + ", not of "
                + addressed.cluster());
      }
      return reply.to(addressed.question(), held);
    };
  }

  private byte[] walk(byte[] question, Held held) {
    IndexAccess own = held.own();
    WalkRequest request = read(() -> WalkRequest.decode(question));
    TableView view = own.readable(request.table());
    AnswerWriter answer = new AnswerWriter(view, request.ownersId());
    Walk walk = walks.get();
    view.walk(walk.of(request, request.contexts(), Deadline.NONE, request.notBefore()), answer);
    return answer.toByteArray();
  }

  private byte[] names(byte[] question, Held held) {
    NamesRequest request = read(() -> NamesRequest.decode(question));
    TableView view =
        held.own().readable(request.table()).within(Deadline.NONE, request.notBefore());
    return TableNames.of(view, request).encode();
  }

  private byte[] status(byte[] question, Held held) {
    List<Integer> wanted = read(() -> readPartitions(question, held.partitions().partitions()));
    return ReplicaStatus.of(held.partitions(), wanted).encode();
  }

  private static List<Integer> readPartitions(byte[] question, int partitions) {
    RecordReader in = new RecordReader(question);
    WalkRequest.requireVersion(in);
    List<Integer> wanted = new ArrayList<>();
    for (int left = in.readCount(); left > 0; left--) {
      int partition = in.readInt();
      if (partition < partitions) {
        wanted.add(partition);
      }
    }
    return wanted;
  }

  private interface Reading<T> {
    T read();
  }

  private static <T> T read(Reading<T> reading) {
    try {
      return reading.read();
    } catch (MalformedRecordException | IllegalArgumentException e) {
      throw ApiException.of(ErrorCode.BAD_REQUEST, "not understood: " + e.getMessage());
    }
  }
}
