// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.trace;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/**
 * Reads a trace line by line: {@code {"timestamp": ms, "input_length": n, "output_length": n,
 * "hash_ids": [...]}}, one request a line, blank lines skipped. Must be closed. Not thread-safe.
 */
public final class TraceReader implements AutoCloseable {
  /** Requests in the bundled slice. */
  public static final int BUNDLED_REQUESTS = 2_500;

  private static final String BUNDLED = "conversation-2500.jsonl.gz";
  private static final ObjectMapper JSON = new ObjectMapper();

  private final String source;
  private final BufferedReader lines;
  private int line;

  private TraceReader(String source, InputStream in) {
    this.source = source;
    this.lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
  }

  /** A trace file; read as gzip when its name ends in {@code .gz}. */
  public static TraceReader open(Path file) throws IOException {
    InputStream in = Files.newInputStream(file);
    return new TraceReader(file.toString(), file.toString().endsWith(".gz") ? unzip(in) : in);
  }

  /** The bundled slice: the first {@value #BUNDLED_REQUESTS} requests of a chat service's hour. */
  public static TraceReader bundled() throws IOException {
    InputStream in = TraceReader.class.getResourceAsStream(BUNDLED);
    if (in == null) {
      throw new FileNotFoundException("the bundled trace is missing from the class path");
    }
    return new TraceReader(BUNDLED, unzip(in));
  }

  private static InputStream unzip(InputStream in) throws IOException {
    try {
      return new GZIPInputStream(in, 1 << 16);
    } catch (IOException e) {
      in.close();
      throw e;
    }
  }

  /**
   * The next request, or null at the end.
   *
   * @throws TraceFormatException naming source and line when the line is no request
   */
  public @Nullable TraceRequest next() throws IOException {
    String text = lines.readLine();
    line++;
    while (text != null && text.isBlank()) {
      text = lines.readLine();
      line++;
    }
    return text == null ? null : parse(text);
  }

  private TraceRequest parse(String text) throws TraceFormatException {
    try {
      JsonNode request = JSON.readTree(text);
      JsonNode ids = request.path("hash_ids");
      if (!ids.isArray()) {
        throw new IllegalArgumentException("hash_ids is not a list");
      }
      int[] hashIds = new int[ids.size()];
      for (int i = 0; i < hashIds.length; i++) {
        hashIds[i] = (int) number(ids.get(i), "hash_ids", Integer.MAX_VALUE);
      }
      return new TraceRequest(
          number(request.path("timestamp"), "timestamp", Long.MAX_VALUE),
          (int) number(request.path("input_length"), "input_length", Integer.MAX_VALUE),
          (int) number(request.path("output_length"), "output_length", Integer.MAX_VALUE),
          hashIds);
    } catch (JsonProcessingException | IllegalArgumentException e) {
      throw new TraceFormatException(source + " line " + line + ": " + e.getMessage(), e);
    }
  }

  private static long number(JsonNode node, String field, long max) {
    if (!node.isIntegralNumber() || !node.canConvertToLong()) {
      throw new IllegalArgumentException(field + " is not a whole number: " + node);
    }
    if (node.longValue() < 0 || node.longValue() > max) {
      throw new IllegalArgumentException(field + " is out of range: " + node);
    }
    return node.longValue();
  }

  @Override
  public void close() throws IOException {
    lines.close();
  }
}
