"""Keys of model services and of the tools around them."""

from __future__ import annotations

from openprogram_redaction._examples import body, hexadecimal
from openprogram_redaction._patterns import token_rule, with_digit

_WORD = "[A-Za-z0-9_-]"
_MASK = r"(?:\*{3,}|…|•{3,}|\.{3,})"

LLM_VENDOR_RULES = (
    token_rule(
        "openai-key",
        ("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-none-", "sk-service-", "sk-"),
        rf"sk-(?:proj|svcacct|admin|None|service)-{_WORD}{{12,}}",
        (
            "sk-" + "proj-" + body(48),
            "sk-" + "svcacct-" + body(30),
            "sk-" + "admin-" + body(24) + "_-" + body(8),
        ),
        ("sk-proj-name", "sk-admin-panel"),
    ),
    token_rule(
        "anthropic-key",
        ("sk-ant-", "sk-"),
        rf"sk-ant-(?:[a-z]+[0-9]*-)?{_WORD}{{12,}}",
        ("sk-" + "ant-api03-" + body(60), "sk-" + "ant-oat01-" + body(40)),
        ("sk-ant-colony",),
    ),
    # Everybody else's `sk-`: a long run that is no word. `sk-container-id-1` is a class name.
    token_rule(
        "sk-key",
        "sk-",
        rf"sk-(?:(?:[A-Za-z0-9]+[_-])*{with_digit('[A-Za-z0-9]', 16)}{_WORD}*"
        rf"|{_WORD}{{6,}}[0-9]{{4,}}{_WORD}*|[A-Za-z]{{32,}}{_WORD}*)",
        (
            "sk-" + body(48),
            "sk-" + "or-v1-" + hexadecimal(64),
            "sk-" + hexadecimal(32),
            "sk-" + "lf-" + body(20),
        ),
        (
            "sk-learn",
            "sk-toggleable__content",
            "sk-estimator-doc-link",
            "sk-container-id-12",
            "ask-someone-else",
        ),
    ),
    token_rule(
        "masked-key",
        ("sk-", "gsk_", "aiza", "xai-", "hf_"),
        rf"(?:sk-|gsk_|AIza|xai-|hf_){_WORD}{{0,24}}(?:\*{{3,}}|…|•{{3,}}|\.{{3,}}[A-Za-z0-9]{{3,8}}\b)"
        rf"[*•.]*[A-Za-z0-9_-]{{0,8}}",
        ("sk-" + "proj-********************abcd", "sk-ab…yz", "sk-" + "ab...wxyz"),
        ("sk-...", "sk-proj-... is how a key begins"),
    ),
    token_rule("openai-session", "sess-", r"sess-[A-Za-z0-9]{40,}", ("sess-" + body(40),), ("sess-1",)),
    token_rule("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{32,}", ("gsk_" + body(52),), ("gsk_test",)),
    token_rule("xai-key", "xai-", r"xai-[A-Za-z0-9]{40,}", ("xai-" + body(80),), ("xai-grok-2",)),
    token_rule("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{40,}", ("pplx-" + body(48),), ("pplx-70b",)),
    token_rule(
        "hugging-face-token",
        ("hf_", "api_org_"),
        r"(?:hf_[A-Za-z0-9]{30,}|api_org_[A-Za-z0-9]{30,})",
        ("hf_" + body(34), "api_org_" + body(34)),
        ("hf_hub_download", "api_org_name"),
    ),
    token_rule("replicate-token", "r8_", r"r8_[A-Za-z0-9]{30,}", ("r8_" + body(37),), ("r8_type",)),
    token_rule("nvidia-key", "nvapi-", rf"nvapi-{_WORD}{{40,}}", ("nvapi-" + body(64),), ("nvapi-docs",)),
    token_rule("cerebras-key", "csk-", r"csk-[a-z0-9]{32,}", ("csk-" + hexadecimal(48),), ("csk-model",)),
    token_rule(
        "fireworks-key", "fw_", rf"fw_{with_digit('[A-Za-z0-9]', 20)}", ("fw_" + body(24),), ("fw_version",)
    ),
    token_rule("together-key", "tgp_v1_", rf"tgp_v1_{_WORD}{{30,}}", ("tgp_v1_" + body(43),)),
    token_rule(
        "langsmith-key",
        "lsv2_",
        r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}",
        ("lsv2_pt_" + hexadecimal(32) + "_" + hexadecimal(10),),
    ),
    token_rule("tavily-key", "tvly-", rf"tvly-{_WORD}{{24,}}", ("tvly-" + body(32),), ("tvly-python",)),
    token_rule("firecrawl-key", "fc-", r"fc-[a-f0-9]{32}\b", ("fc-" + hexadecimal(32),), ("fc-list",)),
    token_rule("e2b-key", "e2b_", r"e2b_[a-f0-9]{40}\b", ("e2b_" + hexadecimal(40),)),
    token_rule("pinecone-key", "pcsk_", r"pcsk_[A-Za-z0-9_]{40,}", ("pcsk_" + body(60),)),
    token_rule("jina-key", "jina_", r"jina_[A-Za-z0-9_-]{40,}", ("jina_" + body(60),), ("jina_embeddings",)),
    token_rule(
        "voyage-key", "pa-", rf"pa-{with_digit('[A-Za-z0-9_-]', 43)}", ("pa-" + body(43),), ("pa-system",)
    ),
    token_rule("elevenlabs-key", "sk_", r"sk_[a-f0-9]{48}\b", ("sk_" + hexadecimal(48),), ("sk_buff",)),
    token_rule("vercel-gateway-key", "vck_", r"vck_[A-Za-z0-9]{40,}", ("vck_" + body(60),)),
    token_rule("wandb-key", "wandb_v1_", r"wandb_v1_[A-Za-z0-9_]{40,}", ("wandb_v1_" + body(60),)),
)
