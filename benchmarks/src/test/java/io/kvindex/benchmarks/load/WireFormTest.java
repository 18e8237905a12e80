// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.query.http.HttpServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Sends every form of query to the real server over an index filled in memory. */
class WireFormTest {
  private static final LoadShape SHAPE = new LoadShape(512, 40, 4, 12, 8);

  private static HttpServer server;

  @BeforeAll
  static void start() {
    server = IndexOnlyServer.start(SHAPE, 0);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @ParameterizedTest
  @EnumSource
  void shouldGetTheAnswersTheShapeDemands_whenAskedInAnyForm(WireForm form) throws IOException {
    PromptBodies bodies = new PromptBodies(SHAPE, form, "localhost");
    AnswerCheck check = new AnswerCheck(SHAPE, bodies);
    try (ControlClient client = new ControlClient("127.0.0.1", server.port())) {
      for (int request = 0; request < SHAPE.prompts(); request++) {
        byte[] answer = client.send(bodies.request(request));

        assertThat(check.difference(request, answer)).isNull();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldNotice_whenTheAnswerIsToAnotherPrompt(WireForm form) throws IOException {
    PromptBodies bodies = new PromptBodies(SHAPE, form, "localhost");
    AnswerCheck check = new AnswerCheck(SHAPE, bodies);
    try (ControlClient client = new ControlClient("127.0.0.1", server.port())) {
      byte[] answer = client.send(bodies.request(3));

      assertThat(check.difference(4, answer)).contains("expected");
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldSendWhatItAnnounces_whenTheRequestIsInPieces(WireForm form) {
    String request =
        new String(
            new PromptBodies(SHAPE, form, "localhost").request(5), StandardCharsets.ISO_8859_1);
    int end = request.indexOf("\r\n\r\n");
    String length = request.substring(request.indexOf("Content-Length: ") + 16, end);

    assertThat(request.length() - end - 4).isEqualTo(Integer.parseInt(length));
  }
}
