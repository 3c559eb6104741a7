"""Tokens of code hosts, package registries and build systems."""

from __future__ import annotations

from openprogram_core.redaction import ValueRule
from openprogram_redaction._examples import body, hexadecimal, upper
from openprogram_redaction._patterns import token_rule

_WORD = "[A-Za-z0-9_-]"
_GITLAB = (
    "glpat-", "gloas-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-",
    "glimt-", "glffct-", "glwt-",
)  # fmt: skip

PLATFORM_RULES = (
    token_rule(
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        r"gh[pousr]_[A-Za-z0-9]{20,}[A-Za-z0-9_]*",
        ("ghp_" + body(36), "ghs_" + body(36)),
        ("ghp_short", "ghs_service_name"),
    ),
    token_rule(
        "github-fine-grained-token",
        "github_pat_",
        r"github_pat_[A-Za-z0-9_]{20,}",
        ("github_pat_" + body(22) + "_" + body(59),),
        ("github_pat_here",),
    ),
    token_rule(
        "gitlab-token",
        _GITLAB,
        rf"gl(?:pat|oas|dt|rtr?|cbt|ptt|ft|soat|agent|imt|ffct|wt)-{_WORD}{{18,}}(?:\.[A-Za-z0-9_-]+)*",
        ("glpat-" + body(20), "glrt-" + body(24)),
        ("glpat-docs",),
    ),
    token_rule(
        "atlassian-token",
        ("atatt3", "atctt3", "atbb"),
        rf"(?:AT[AC]TT3{_WORD}{{60,}}=?[A-F0-9]*|ATBB[A-Za-z0-9]{{28,}})",
        ("ATATT3" + body(180), "ATBB" + body(32)),
    ),
    token_rule("npm-token", "npm_", r"npm_[A-Za-z0-9]{36,}", ("npm_" + body(36),), ("npm_config_registry",)),
    token_rule(
        "pypi-token",
        "pypi-",
        rf"pypi-AgE{_WORD}{{50,}}",
        ("pypi-" + "AgEIcHlwaS5vcmc" + body(100),),
        ("pypi-server",),
    ),
    token_rule("rubygems-key", "rubygems_", r"rubygems_[a-f0-9]{48}", ("rubygems_" + hexadecimal(48),)),
    token_rule("crates-token", "cio", r"cio[A-Za-z0-9]{32}\b", ("cio" + body(32),), ("cioppino",)),
    token_rule(
        "docker-token",
        ("dckr_pat_", "dckr_oat_"),
        rf"dckr_[po]at_{_WORD}{{24,}}",
        ("dckr_pat_" + body(27),),
    ),
    token_rule("nuget-key", "oy2", r"oy2[a-z0-9]{43}\b", ("oy2" + hexadecimal(43),)),
    token_rule("artifactory-key", "akcp", r"AKCp[A-Za-z0-9]{60,}", ("AKCp" + body(69),)),
    token_rule(
        "circleci-token",
        "ccipat_",
        r"CCIPAT_[A-Za-z0-9]+_[a-f0-9]{40}",
        ("CCIPAT_" + body(22) + "_" + hexadecimal(40),),
    ),
    token_rule("buildkite-token", "bkua_", r"bkua_[a-z0-9]{40}", ("bkua_" + hexadecimal(40),)),
    token_rule(
        "sourcegraph-token", "sgp_", r"sgp_(?:[a-zA-Z0-9]+_)?[a-f0-9]{40}\b", ("sgp_" + hexadecimal(40),)
    ),
    token_rule(
        "postman-key",
        "pmak-",
        r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}",
        ("PMAK-" + hexadecimal(24) + "-" + hexadecimal(34),),
    ),
    token_rule(
        "sentry-token",
        ("sntrys_", "sntryu_"),
        r"sntry[su]_[A-Za-z0-9+/=_-]{40,}",
        ("sntryu_" + hexadecimal(64),),
    ),
    token_rule(
        "grafana-token",
        ("glsa_", "glc_"),
        r"gl(?:sa|c)_[A-Za-z0-9+/=_]{32,}",
        ("glsa_" + body(32) + "_0f1e2d3c",),
    ),
    token_rule(
        "new-relic-key",
        ("nrak-", "nrii-", "nrjs-"),
        r"NR(?:AK|II|JS)-[A-Za-z0-9_-]{19,}",
        ("NRAK-" + upper(27),),
    ),
    token_rule(
        "age-key", "age-secret-key-1", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}", ("AGE-SECRET-KEY-1" + upper(58),)
    ),
    token_rule(
        "onepassword-token", "ops_eyj", r"ops_eyJ[A-Za-z0-9+/=_-]{100,}", ("ops_" + "eyJ" + body(200),)
    ),
    ValueRule(
        name="npmrc-auth",
        literals=("_auth=", "_auth ="),
        pattern=r"(?:\A|[\s:/])_auth ?= ?[\"']?(?P<secret>[A-Za-z0-9+/]{8,}={0,2})",
        matches=("//registry.example.org/:_auth=" + body(24),),
        rejects=("basic_auth=true", "self._custom_auth = AccessTokenAuth"),
    ),
)
