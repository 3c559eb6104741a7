"""Keys of cloud providers."""

from __future__ import annotations

from openprogram_core.redaction import ValueRule
from openprogram_redaction._examples import body, hexadecimal, upper
from openprogram_redaction._patterns import token_rule

CLOUD_RULES = (
    token_rule(
        "aws-key-id",
        ("akia", "asia", "abia", "acca"),
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
        ("AKIA" + upper(16), "key ASIA" + upper(16) + "."),
        ("ASIAPACIFIC", "AKIA is how they begin", "akiasyntheticlower00"),
    ),
    token_rule(
        "aws-session-token",
        ("iqoj", "fwog"),
        r"(?:IQoJb3JpZ2lu|FwoGZXIvYXdz)[A-Za-z0-9+/=_%-]{40,}",
        ("IQoJ" + "b3JpZ2luX2Vj" + body(200), "FwoG" + "ZXIvYXdz" + body(200)),
    ),
    token_rule(
        "aws-bedrock-key",
        ("absk", "bedrock-api-key-"),
        r"(?:ABSK[A-Za-z0-9+/]{100,}={0,2}|bedrock-api-key-[A-Za-z0-9+/=_-]{40,})",
        ("ABSK" + body(128), "bedrock-api-key-" + body(80)),
    ),
    token_rule(
        "google-api-key",
        "aiza",
        r"AIza[A-Za-z0-9_-]{30,}",
        ("AIza" + "Sy" + body(33),),
        ("AIza",),
    ),
    token_rule(
        "google-auth-key",
        "aq.ab",
        r"AQ\.Ab[A-Za-z0-9_-]{30,}",
        ("AQ.Ab" + body(48),),
    ),
    token_rule(
        "google-oauth-token",
        "ya29.",
        r"ya29\.[A-Za-z0-9._-]{20,}",
        ("ya29." + body(60),),
    ),
    token_rule("google-refresh-token", "1//0", r"1//0[A-Za-z0-9_-]{30,}", ("1//0" + body(60),)),
    token_rule("google-client-secret", "gocspx-", r"GOCSPX-[A-Za-z0-9_-]{20,}", ("GOCSPX-" + body(28),)),
    ValueRule(
        name="azure-account-key",
        literals=("accountkey=", "sharedaccesskey="),
        pattern=r"(?i)(?:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/%]{20,}={0,2})",
        matches=("AccountName=a;AccountKey=" + body(86) + "==;EndpointSuffix=core.windows.net",),
        rejects=("AccountKey=;", "SharedAccessKeyName=RootManage"),
    ),
    token_rule(
        "azure-client-secret",
        tuple(f"{digit}q~" for digit in range(10)),
        r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}",
        ("aB3" + "8Q~" + body(34),),
    ),
    token_rule("alibaba-key-id", "ltai", r"LTAI[A-Za-z0-9]{12,26}\b", ("LTAI" + body(20),), ("LTAIR",)),
    token_rule("tencent-key-id", "akid", r"AKID[A-Za-z0-9]{32}\b", ("AKID" + body(32),), ("AKIDS",)),
    token_rule(
        "digitalocean-token",
        ("dop_v1_", "doo_v1_", "dor_v1_"),
        r"do[opr]_v1_[a-f0-9]{64}",
        ("dop_v1_" + hexadecimal(64),),
    ),
    token_rule("heroku-key", "hrku-", r"HRKU-[A-Za-z0-9_-]{30,}", ("HRKU-" + body(60),)),
    token_rule(
        "fly-token",
        ("fo1_", "fm1r_", "fm2_"),
        r"(?:fo1_[\w-]{40,}|fm(?:1r|2)_[A-Za-z0-9+/=]{40,})",
        ("fo1_" + body(43), "fm2_" + body(100)),
    ),
    token_rule(
        "supabase-key",
        ("sbp_", "sb_secret_"),
        r"(?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,})",
        ("sbp_" + hexadecimal(40), "sb_secret_" + body(31)),
    ),
    token_rule(
        "planetscale-token",
        ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"),
        r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30,}",
        ("pscale_pw_" + body(43),),
    ),
    token_rule("databricks-token", "dapi", r"dapi[a-f0-9]{32}(?:-[0-9])?\b", ("dapi" + hexadecimal(32),)),
    token_rule("vault-token", ("hvs.", "hvb.", "hvr."), r"hv[sbr]\.[A-Za-z0-9_-]{24,}", ("hvs." + body(90),)),
    ValueRule(
        name="terraform-token",
        literals=(".atlasv1.",),
        pattern=r"\b[A-Za-z0-9]{14}(?P<secret>\.atlasv1\.[A-Za-z0-9_=-]{50,})",
        matches=(body(14) + ".atlasv1." + body(67),),
    ),
    token_rule("pulumi-token", "pul-", r"pul-[a-f0-9]{40}\b", ("pul-" + hexadecimal(40),)),
    token_rule("tailscale-key", "tskey-", r"tskey-[a-z]+-[A-Za-z0-9-]{20,}", ("tskey-auth-" + body(30),)),
    token_rule(
        "doppler-token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{32,}", ("dp.pt." + body(43),)
    ),
    token_rule("netlify-token", "nfp_", r"nfp_[A-Za-z0-9]{36,}", ("nfp_" + body(40),)),
)
