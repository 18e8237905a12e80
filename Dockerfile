# kvindex: broker, bridge, index and the command-line clients in one image.
#   docker build -t kvindex:0.1.0 .
#   docker run --rm kvindex:0.1.0 --help

FROM maven:3.9.9-eclipse-temurin-17 AS build
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/root/.m2 \
    mvn -B -q -Dmaven.test.skip=true -Dspotless.check.skip=true -pl launcher -am package

FROM eclipse-temurin:17.0.15_6-jre-noble
# A number, so that Kubernetes can see that it is not root; the directory's owner becomes that of a new volume.
RUN groupadd --gid 10001 kvindex && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/kvindex kvindex \
    && install -d -o 10001 -g 10001 /var/lib/kvindex
# Where ./kvindex looks for them in a checkout; without sources it builds nothing.
COPY --from=build /src/launcher/target/lib /opt/kvindex/launcher/target/lib
COPY --from=build /src/launcher/target/kvindex.jar /opt/kvindex/launcher/target/kvindex.jar
COPY kvindex LICENSE /opt/kvindex/
COPY deploy/java.sh deploy/probe.sh deploy/class-archive.sh /opt/kvindex/deploy/
# Saves a third of the processor time of a start; needs no network but the loopback address. Without it, as where
# another machine's processor is emulated, all is the same but slower to start.
RUN /opt/kvindex/deploy/class-archive.sh || echo "no class archive: starts take longer"
# Heap: 60 % of the container's memory; RocksDB, buffers and threads live beside it.
ENV KVINDEX_JAVA_OPTS=-XX:MaxRAMPercentage=60 \
    KVINDEX_DATA_DIR=/var/lib/kvindex
USER 10001:10001
WORKDIR /var/lib/kvindex
VOLUME /var/lib/kvindex
# index and all: 13333, bridge: 13334, broker: 9092
EXPOSE 13333 13334 9092
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=6 CMD ["/opt/kvindex/deploy/probe.sh", "13333", "/health"]
ENTRYPOINT ["/opt/kvindex/kvindex"]
CMD ["all", "--bind", "0.0.0.0", "--http-port", "13333"]
