# SPDX-License-Identifier: Apache-2.0
"""Tiny models: a configuration and a tokenizer; the engine fills in random weights. Adapters get random weights of their own."""

import json
import sys
from pathlib import Path
from typing import Any

VOCABULARY = 32_000
LAYERS, HIDDEN, HEADS, KV_HEADS = 2, 128, 4, 2
HEAD = HIDDEN // HEADS
ADAPTERS = ("adapter-a", "adapter-b")
COMMON: dict[str, Any] = dict(
    vocab_size=VOCABULARY,
    hidden_size=HIDDEN,
    num_hidden_layers=LAYERS,
    num_attention_heads=HEADS,
    num_key_value_heads=KV_HEADS,
    head_dim=HEAD,
    max_position_embeddings=8192,
    dtype="bfloat16",
)


def make_all(directory: Path) -> None:
    from transformers import GptOssConfig, LlamaConfig

    save(directory / "dense", LlamaConfig(intermediate_size=256, architectures=["LlamaForCausalLM"], **COMMON))
    hybrid = GptOssConfig(
        intermediate_size=128,
        num_local_experts=4,
        num_experts_per_tok=2,
        sliding_window=64,
        layer_types=["sliding_attention", "full_attention"],
        architectures=["GptOssForCausalLM"],
        **COMMON,
    )
    save(directory / "hybrid", hybrid)
    for seed, name in enumerate(ADAPTERS):
        save_adapter(directory / name, base=directory / "dense", seed=seed)
    (directory / "made").touch()


def save(path: Path, config: Any) -> None:
    """Prompts are token ids, so any tokenizer will do: a word a token."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from transformers import PreTrainedTokenizerFast

    words = {f"w{i}": i for i in range(VOCABULARY - 2)} | {"<none>": VOCABULARY - 2, "<end>": VOCABULARY - 1}
    tokenizer = Tokenizer(WordLevel(words, unk_token="<none>"))
    make: Any = PreTrainedTokenizerFast
    make(tokenizer_object=tokenizer, unk_token="<none>", eos_token="<end>").save_pretrained(path)
    config.save_pretrained(path)


def save_adapter(path: Path, base: Path, seed: int, rank: int = 8) -> None:
    import torch
    from safetensors.torch import save_file

    random = torch.Generator().manual_seed(seed)
    sizes = {"q_proj": HEADS * HEAD, "v_proj": KV_HEADS * HEAD}
    weights = {}
    for layer in range(LAYERS):
        for projection, size in sizes.items():
            name = f"base_model.model.model.layers.{layer}.self_attn.{projection}"
            weights[f"{name}.lora_A.weight"] = torch.randn(rank, HIDDEN, generator=random) * 0.05
            weights[f"{name}.lora_B.weight"] = torch.randn(size, rank, generator=random) * 0.05
    path.mkdir(parents=True, exist_ok=True)
    save_file(weights, path / "adapter_model.safetensors")
    about = dict(
        peft_type="LORA",
        task_type="CAUSAL_LM",
        base_model_name_or_path=str(base),
        r=rank,
        lora_alpha=16,
        lora_dropout=0.0,
        bias="none",
        target_modules=list(sizes),
    )
    (path / "adapter_config.json").write_text(json.dumps(about))


if __name__ == "__main__":
    make_all(Path(sys.argv[1]).resolve())
