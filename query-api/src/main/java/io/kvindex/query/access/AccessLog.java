// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.access;

import io.javalin.config.RoutesConfig;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.http.RequestObserver;
import io.kvindex.query.reply.JsonBuffer;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One JSON object a line and request: {@code ts, trace_id, method, path, model, status,
 * duration_ms}. A request puts its entry into a bounded queue and goes on; one thread writes. What
 * does not fit, or can not be written, is dropped and counted. Source: Dynamo standalone indexer,
 * v1.5.
 */
public final class AccessLog implements RequestObserver, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(AccessLog.class);
  private static final int MAX_WAITING = 1 << 16;
  private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final double NANOS_PER_MS = 1e6;

  private record Entry(
      long epochMs,
      @Nullable String traceId,
      String method,
      String path,
      @Nullable String model,
      int status,
      long nanos) {}

  private final AccessLogSettings settings;
  private final DateTimeFormatter times;
  private final Counter dropped;
  private final ConcurrentLinkedQueue<Entry> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicInteger count = new AtomicInteger();
  private final int maxWaiting;

  /** Whether lines were dropped since all that waited was last written; one warning is enough. */
  private final AtomicBoolean behind = new AtomicBoolean();

  private final JsonBuffer line = new JsonBuffer();
  private final Thread writer = new Thread(this::run, "access-log");
  private volatile boolean closing;

  /** Held while the file is written or exchanged, never by a request that is logged. */
  private final Object file = new Object();

  private OutputStream out;
  private boolean failing;

  /**
   * One that does not write yet.
   *
   * @param maxWaiting entries that may wait for the writer
   */
  AccessLog(AccessLogSettings settings, MeterRegistry metrics, int maxWaiting) throws IOException {
    this.settings = settings;
    this.maxWaiting = maxWaiting;
    times =
        DateTimeFormatter.ISO_OFFSET_DATE_TIME.withZone(
            settings.localTime() ? ZoneId.systemDefault() : ZoneOffset.UTC);
    dropped =
        Counter.builder("kvindex.access.log.dropped")
            .description("Lines of the access log that were not written")
            .register(metrics);
    out = open();
  }

  /**
   * Starts to log.
   *
   * @throws IOException if the file can not be written to
   */
  public static AccessLog start(AccessLogSettings settings, MeterRegistry metrics)
      throws IOException {
    AccessLog log = new AccessLog(settings, metrics, MAX_WAITING);
    log.begin();
    return log;
  }

  void begin() {
    writer.setDaemon(true);
    writer.start();
  }

  @Override
  public void completed(Request request, int status, long nanos) {
    if (count.incrementAndGet() > maxWaiting) {
      count.decrementAndGet();
      dropped.increment();
      if (behind.compareAndSet(false, true)) {
        LOG.warn(
            "the access log is {} lines behind, more are dropped; is its disk slow? file={}",
            maxWaiting,
            settings.file());
      }
      return;
    }
    waiting.add(
        new Entry(
            System.currentTimeMillis(),
            request.getHeaders().get(settings.traceHeader()),
            request.getMethod(),
            request.getHttpURI().getPath(),
            request.getAttribute(MODEL) instanceof String model ? model : null,
            status,
            nanos));
  }

  /**
   * Goes on in a new file where the old one was moved away.
   *
   * @throws IOException if it can not be opened; the old one then stays in use
   */
  void reopen() throws IOException {
    synchronized (file) {
      OutputStream fresh = open();
      OutputStream old = out;
      out = fresh;
      old.close();
    }
  }

  private OutputStream open() throws IOException {
    return Files.newOutputStream(
        settings.file(), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  private void run() {
    while (true) {
      boolean last = closing;
      if (waiting.peek() != null) {
        writeWaiting();
      } else if (last) {
        return;
      } else {
        behind.set(false);
        LockSupport.parkNanos(IDLE_NANOS);
      }
    }
  }

  /** Writes many lines at once: up to a buffer's fill, or all there are. */
  private void writeWaiting() {
    line.clear();
    int lines = 0;
    Entry entry;
    while (line.length() < 1 << 16 && (entry = waiting.poll()) != null) {
      count.decrementAndGet();
      append(entry);
      lines++;
    }
    synchronized (file) {
      try {
        out.write(line.asByteBuffer().array(), 0, line.length());
        failing = false;
      } catch (IOException e) {
        dropped.increment(lines);
        if (!failing) {
          failing = true;
          LOG.warn("the access log can not be written, file={}: {}", settings.file(), e.toString());
        }
      }
    }
  }

  private void append(Entry entry) {
    line.raw('{').name("ts").string(times.format(Instant.ofEpochMilli(entry.epochMs)));
    text("trace_id", entry.traceId);
    text("method", entry.method);
    text("path", entry.path);
    text("model", entry.model);
    line.raw(',').name("status").number(entry.status).raw(',').name("duration_ms");
    String ms = String.format(Locale.ROOT, "%.3f", entry.nanos / NANOS_PER_MS);
    line.raw(ms.getBytes(StandardCharsets.US_ASCII)).raw('}').raw('\n');
  }

  private void text(String name, @Nullable String value) {
    line.raw(',').name(name);
    if (value == null) {
      line.raw(new byte[] {'n', 'u', 'l', 'l'});
    } else {
      line.string(value);
    }
  }

  /** {@code POST /reopen_logs}, also where nothing is logged. */
  public static void addTo(RoutesConfig routes, @Nullable AccessLog log) {
    routes.post(
        "/reopen_logs",
        ctx -> {
          try {
            if (log != null) {
              log.reopen();
            }
            ctx.result("{\"status\":\"ok\"}");
          } catch (IOException e) {
            LOG.warn("the access log can not be opened again: {}", e.toString());
            throw ErrorCode.INTERNAL.because(
                "the access log can not be opened again; the old file stays in use");
          }
        });
  }

  @Override
  public void close() {
    closing = true;
    LockSupport.unpark(writer);
    try {
      writer.join(TimeUnit.SECONDS.toMillis(2));
      synchronized (file) {
        out.close();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      LOG.debug("closing the access log", e);
    }
  }

  /**
   * Where requests are logged and how.
   *
   * @param file appended to
   * @param traceHeader request header whose value is logged as {@code trace_id}
   * @param localTime whether times are in the machine's zone, else UTC
   */
  public record AccessLogSettings(Path file, String traceHeader, boolean localTime) {
    /** Header Dynamo's clients put their trace id in. */
    public static final String DEFAULT_TRACE_HEADER = "x-trace-id";
  }
}
