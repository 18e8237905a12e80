// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.overview;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Incarnation;
import io.kvindex.model.Media;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import io.kvindex.query.registration.Registered;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.view.ContextNames;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The bodies of {@code /services} and {@code /global_view}, to the letter. */
class OverviewTest {

  private static final String PLAIN = "{\"algorithm\":\"xxh3\",\"seed\":\"1337\"}";

  private final List<Registered> registered = new ArrayList<>();
  private final FixedTables tables = new FixedTables();

  private void register(
      String instance, String tenant, int rank, @Nullable String namespace, String... loras) {
    register(
        instance, rank, SourceType.VLLM, table(tenant, HashProfile.XXH3_DEFAULT), namespace, loras);
  }

  private void register(
      String instance,
      int rank,
      SourceType type,
      TableId table,
      @Nullable String namespace,
      String... loras) {
    registered.add(
        new Registered(
            new Registration(
                new PublisherId(instance, table.tenantId(), rank),
                "tcp://10.0.0.1:5557",
                rank == 0 ? "tcp://10.0.0.1:5558" : null,
                type,
                table,
                List.of(loras),
                namespace,
                SourceOptions.of(CopyPolicy.COUNT),
                null),
            7));
  }

  private static TableId table(String tenant, HashProfile profile) {
    return new TableId(tenant, "m", 16, profile);
  }

  private RegistrationSnapshot snapshot() {
    return RegistrationSnapshot.of(registered, Media.standard());
  }

  private String services() {
    return OverviewRoutes.services(snapshot()).toString();
  }

  private String globalView() {
    return GlobalView.of(snapshot(), tables).toString();
  }

  @Test
  void shouldBeEmptyLists_whenNothingIsRegistered() {
    assertThat(services()).isEqualTo("{\"count\":0,\"services\":[]}");
    assertThat(globalView()).isEqualTo("{\"context_count\":0,\"contexts\":[]}");
  }

  @Test
  void shouldHaveTheConductorsNames_whenAServiceIsListed() {
    register("e", "default", 0, "w8a8", "sql");
    assertThat(services())
        .isEqualTo(
            "{\"count\":1,\"services\":[{\"Endpoint\":\"tcp://10.0.0.1:5557\","
                + "\"ReplayEndpoint\":\"tcp://10.0.0.1:5558\",\"Type\":\"vLLM\",\"ModelName\":\"m\","
                + "\"LoraName\":\"sql\",\"TenantID\":\"default\",\"InstanceID\":\"e\","
                + "\"BlockSize\":16,\"DPRank\":0,\"AdditionalSalt\":\"w8a8\",\"HashProfile\":"
                + PLAIN
                + ",\"Generation\":7}]}");
  }

  @Test
  void shouldListEachAdapterAndRank_whenTheyShareAnEndpoint() {
    register("e", "default", 1, null, "");
    register("e", "default", 0, null, "", "sql");
    register("e", "acme", 0, null, "");
    assertThat(OverviewRoutes.services(snapshot()).path("services"))
        .extracting(
            one ->
                one.path("TenantID").asText()
                    + "/"
                    + one.path("DPRank")
                    + "/"
                    + one.path("LoraName").asText())
        .containsExactly("acme/0/", "default/0/", "default/0/sql", "default/1/");
  }

  @Test
  void shouldShowTheConductorsFiveMembers_whenTheProfileIsVllms() {
    HashProfile cbor = new HashProfile(Algorithm.VLLM_SHA256_CBOR, "0");
    // SHA-256 of the CBOR text "0" (0x61 0x30).
    assertThat(OverviewRoutes.profile(cbor).toString())
        .isEqualTo(
            "{\"strategy\":\"vllm_v1\",\"algorithm\":\"sha256_cbor\",\"python_hash_seed\":\"0\","
                + "\"root_digest\":\"4e1195df020de59e0d65a33a4279f1183e7ae4e5d980e309f8b55adff2e61c3e\","
                + "\"index_projection\":\"low64_be\"}");
    HashProfile pickle = new HashProfile(Algorithm.VLLM_SHA256, "00");
    assertThat(OverviewRoutes.profile(pickle).path("algorithm").asText()).isEqualTo("sha256");
    assertThat(OverviewRoutes.profile(HashProfile.of(Algorithm.SGLANG_SHA256)).toString())
        .isEqualTo("{\"algorithm\":\"sglang_sha256\",\"seed\":\"\"}");
  }

  @Test
  void shouldGroupRanksByContext_whenSeveralAreRegistered() {
    register("e", "default", 2, null, "");
    register("e", "default", 0, null, "", "sql");
    register("f", "default", 0, null, "sql");
    register("salted", "default", 0, "w8a8", "");
    register("pool", 0, SourceType.MOONCAKE, table("default", HashProfile.XXH3_DEFAULT), null, "");
    PrefixIndex index = new PrefixIndex();
    int slot = index.addOwner(owner());
    index.add(1, slot);
    index.add(2, slot);
    tables.put(table("default", HashProfile.XXH3_DEFAULT), index);
    assertThat(globalView())
        .isEqualTo(
            "{\"context_count\":3,\"contexts\":["
                + context("", "", ",\"prefix_count\":2", "{\"e\":[0,2]}")
                + ","
                + context("", "w8a8", ",\"prefix_count\":2", "{\"salted\":[0]}")
                + ","
                + context("sql", "", ",\"prefix_count\":2", "{\"e\":[0],\"f\":[0]}")
                + "]}");
  }

  @Test
  void shouldListAdaptersOnlyEventsName_andNoRequestSalt() {
    register("e", "default", 0, null, "");
    tables.put(
        table("default", HashProfile.XXH3_DEFAULT),
        new PrefixIndex(),
        new ContextNames(0, null, null, null),
        new ContextNames(1, "chat", null, null),
        new ContextNames(2, "chat", null, "secret"),
        new ContextNames(3, null, null, "secret"));
    assertThat(globalView())
        .isEqualTo(
            "{\"context_count\":2,\"contexts\":["
                + context("", "", ",\"prefix_count\":0", "{\"e\":[0]}")
                + ","
                + context("chat", "", ",\"prefix_count\":0", "{}")
                + "]}");
  }

  @Test
  void shouldLeaveTheCountOut_whenTheTableIsNotHere() {
    register("e", "default", 0, null, "");
    assertThat(globalView())
        .isEqualTo(
            "{\"context_count\":1,\"contexts\":[" + context("", "", "", "{\"e\":[0]}") + "]}");
  }

  private static String context(String lora, String salt, String count, String instances) {
    return "{\"model_name\":\"m\",\"lora_name\":\""
        + lora
        + "\",\"block_size\":16,\"additional_salt\":\""
        + salt
        + "\",\"tenant_id\":\"default\""
        + count
        + ",\"hash_profile\":"
        + PLAIN
        + ",\"instances\":"
        + instances
        + "}";
  }

  private static Owner owner() {
    return new Owner("default", "e", 0, 0, "GPU", false, null, new Incarnation(1, 1, 0));
  }
}
