"""Types of models that cannot become ours, and what stands in the way."""

from __future__ import annotations

ONE_BY_ONE = {
    "gpt_oss": "Several experts serve each token (num_experts_per_tok), and their gates are cut off at a limit.",
    "switch_transformers": "Only some of its layers are mixtures (decoder_sparse_step); here all are.",
    "albert": "A matrix widens its embeddings after a norm (embedding_hidden_mapping_in), which is no step here.",
    "umt5": "Each of its layers has a table of distances (relative_attention_bias) of its own; here a stack has one.",
    "mpnet": "It has a table of distances (relative_attention_bias) and learned positions; here there is one scheme.",
    "apertus": "The function of its layers has trained numbers (act_fn.alpha_p, act_fn.alpha_n), as none here has.",
    "diffllama": "Its patterns are differences of two (lambda_q1, lambda_k1), which no pattern here is.",
    "bitnet": "There is a norm inside its feed-forward layers (ffn_sub_norm), as in none here.",
    "hunyuan_v1_dense": "Queries are normed after they are turned (query_layernorm); here a norm comes before.",
    "nanochat": "Queries are normed after they are turned; here a norm comes before.",
    "persimmon": "Its queries have LayerNorms with biases (q_layernorm); those known here have RMSNorms.",
}

TOGETHER = {
    "Several experts serve each token (num_experts_per_tok); in mixtures here one does.": (
        "mixtral qwen2_moe qwen3_moe olmoe flex_olmo granitemoe granitemoeshared phimoe dbrx llama4_text glm4_moe "
        "ernie4_5_moe minimax_m2 hunyuan_v1_moe nllb-moe"
    ),
    "Keys and values of all heads come from one short vector (kv_a_proj_with_mqa, multi-head latent attention), "
    "which is no step here.": "deepseek_v2 deepseek_v3 deepseek_v32 minicpm3 glm4_moe_lite longcat_flash",
    "Some or all of its layers are no attention but state spaces, recurrences or the like, so they have no pattern.": (
        "mamba mamba2 falcon_mamba rwkv xlstm recurrent_gemma jamba zamba zamba2 bamba falcon_h1 nemotron_h "
        "granitemoehybrid qwen3_next qwen3_5_text qwen3_5_moe lfm2 lfm2_moe minimax olmo_hybrid kimi_linear fnet"
    ),
    "It reads pictures or sound besides text; its language model is only a part of it.": (
        "gemma3 gemma3n gemma4 mistral3 llama4 mllama llava llava_next qwen2_vl qwen2_5_vl qwen3_vl qwen3_5 paligemma "
        "smolvlm idefics3 whisper phi4_multimodal clip blip florence2"
    ),
    "Its attention is cut into blocks, with tokens that all others see, which is no mask here.": (
        "longformer led big_bird bigbird_pegasus longt5 reformer nystromformer"
    ),
    "It reads a text in several orders, which takes a second stream of queries.": "xlnet prophetnet",
    "Its scores have terms of their own for positions (pos_key_proj, pos_query_proj, disentangled attention).": (
        "deberta deberta-v2"
    ),
}

REASONS = ONE_BY_ONE | {kind: reason for reason, kinds in TOGETHER.items() for kind in kinds.split()}
"""By `model_type`."""
