// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.contract;

import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.kvindex.query.error.ErrorCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Properties;

/**
 * {@code GET /openapi.yaml}: {@code docs/openapi.yaml} as it was built in. {@code GET /docs}: the
 * same to browse, with Swagger UI out of the jar: a browser asks nobody else for anything.
 */
public final class ContractRoutes {
  private static final String UI = "/META-INF/resources/webjars/swagger-ui/";
  private static final String UI_BUILD = "/META-INF/maven/org.webjars/swagger-ui/pom.properties";

  /** Swagger UI sets styles on elements; nothing else may come from anywhere but here. */
  private static final String POLICY =
      "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:";

  private record File(String resource, String type) {}

  /** All there is: a name a client sends is looked up here and never becomes a path. */
  private final Map<String, File> files;

  public ContractRoutes() {
    String ui = UI + uiVersion() + '/';
    files =
        Map.of(
            "swagger-ui.css",
            new File(ui + "swagger-ui.css", "text/css; charset=utf-8"),
            "swagger-ui-bundle.js",
            new File(ui + "swagger-ui-bundle.js", "text/javascript; charset=utf-8"),
            "start.js",
            new File("start.js", "text/javascript; charset=utf-8"));
  }

  public void addTo(RoutesConfig routes) {
    routes.get("/openapi.yaml", ctx -> send(ctx, new File("openapi.yaml", "application/yaml")));
    routes.get("/docs", ctx -> send(ctx, new File("docs.html", "text/html; charset=utf-8")));
    routes.get("/docs/{file}", ctx -> send(ctx, file(ctx.pathParam("file"))));
  }

  private File file(String name) {
    File file = files.get(name);
    if (file == null) {
      throw ErrorCode.NOT_FOUND.because(
          "no such file of the documentation: " + ErrorCode.echo(name));
    }
    return file;
  }

  private static void send(Context ctx, File file) {
    ctx.header("Content-Security-Policy", POLICY);
    ctx.header("X-Content-Type-Options", "nosniff");
    ctx.contentType(file.type()).result(open(file.resource()));
  }

  private static InputStream open(String resource) {
    InputStream in = ContractRoutes.class.getResourceAsStream(resource);
    if (in == null) {
      throw new IllegalStateException(resource + " is not in the jar");
    }
    return in;
  }

  /** The version is part of the paths in its jar. */
  private static String uiVersion() {
    Properties build = new Properties();
    try (InputStream in = open(UI_BUILD)) {
      build.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return build.getProperty("version", "");
  }
}
