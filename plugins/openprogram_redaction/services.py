"""Tokens of chat, payment, mail and office services."""

from __future__ import annotations

from openprogram_core.redaction import ValueRule
from openprogram_redaction._examples import body, hexadecimal
from openprogram_redaction._patterns import token_rule

_WORD = "[A-Za-z0-9_-]"

SERVICE_RULES = (
    token_rule(
        "slack-token",
        (
            "xoxa-",
            "xoxb-",
            "xoxc-",
            "xoxd-",
            "xoxe-",
            "xoxe.",
            "xoxo-",
            "xoxp-",
            "xoxr-",
            "xoxs-",
            "xapp-",
            "xwfp-",
        ),
        r"(?:xox[abcdeoprs]-|xoxe\.xox[bp]-|xapp-|xwfp-)(?:[A-Za-z0-9-]|%2[BbFf]|%3[Dd]){10,}",
        ("xoxb-" + "0000000000-" + body(24), "xapp-" + "1-A0-" + hexadecimal(64)),
        ("xoxo-hugs", "xapp-name"),
    ),
    ValueRule(
        name="slack-webhook",
        literals=("hooks.slack.com/", "hooks.slack-gov.com/"),
        pattern=r"hooks\.slack(?:-gov)?\.com/(?:services|triggers|workflows)/(?P<secret>[A-Za-z0-9+/_-]{20,})",
        matches=("https://hooks.slack.com/services/T00/B00/" + body(24),),
        rejects=("https://hooks.slack.com/services/",),
    ),
    ValueRule(
        name="discord-webhook",
        literals=("/webhooks/",),
        pattern=r"discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]{10,}/(?P<secret>[A-Za-z0-9_-]{20,})",
        matches=("https://discord.com/api/webhooks/123456789012345678/" + body(68),),
    ),
    ValueRule(
        name="teams-webhook",
        literals=(".webhook.office.com/", "outlook.office.com/webhook/", "outlook.office365.com/webhook/"),
        pattern=r"(?:\.webhook\.office\.com/webhookb2|outlook\.office(?:365)?\.com/webhook)/(?P<secret>[A-Za-z0-9@/_-]{30,})",
        matches=(
            "https://a.webhook.office.com/webhookb2/" + hexadecimal(36) + "@x/IncomingWebhook/" + body(20),
        ),
    ),
    ValueRule(
        name="automation-webhook",
        literals=("maker.ifttt.com/", "hooks.zapier.com/"),
        pattern=r"maker\.ifttt\.com/[\w/-]{1,100}?/with/key/(?P<secret>[A-Za-z0-9_-]{10,})"
        r"|hooks\.zapier\.com/hooks/catch/[0-9]+/[A-Za-z0-9]{5,}",
        matches=(
            "https://maker.ifttt.com/trigger/x/with/key/" + body(22),
            "https://hooks.zapier.com/hooks/catch/123456/" + body(7),
        ),
    ),
    ValueRule(
        name="telegram-token",
        literals=(":aa",),
        pattern=r"(?:\b|bot)[0-9]{8,10}:(?P<secret>AA[A-Za-z0-9_-]{32,34})\b",
        matches=("https://api.telegram.org/bot123456789:AA" + body(33) + "/getMe",),
        rejects=("12345678:AAPL",),
    ),
    token_rule(
        "stripe-key",
        ("sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_org_"),
        r"(?:[sr]k_(?:live|test)|sk_org)_[A-Za-z0-9_]{14,}",
        ("sk_live_" + body(24), "rk_test_" + body(99)),
        ("sk_test_mode",),
    ),
    token_rule("webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,}", ("whsec_" + body(32),)),
    token_rule("twilio-key", "sk", r"SK[0-9a-f]{32}\b", ("SK" + hexadecimal(32),), ("SKU12345",)),
    token_rule(
        "sendgrid-key",
        "sg.",
        r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{30,}",
        ("SG." + body(22) + "." + body(43),),
    ),
    token_rule("mailgun-key", "key-", r"key-[0-9a-f]{32}\b", ("key-" + hexadecimal(32),), ("key-value",)),
    token_rule(
        "brevo-key",
        "xkeysib-",
        r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}",
        ("xkeysib-" + hexadecimal(64) + "-" + body(16),),
    ),
    token_rule(
        "resend-key",
        "re_",
        r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}\b",
        ("re_" + body(8) + "_" + body(24),),
        ("re_match",),
    ),
    token_rule(
        "shopify-token",
        ("shpat_", "shpca_", "shppa_", "shpss_"),
        r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
        ("shpat_" + hexadecimal(32),),
    ),
    token_rule(
        "square-token", ("sq0atp-", "sq0csp-"), rf"sq0(?:atp|csp)-{_WORD}{{22,}}", ("sq0atp-" + body(22),)
    ),
    token_rule(
        "linear-key",
        ("lin_api_", "lin_oauth_"),
        r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}",
        ("lin_api_" + body(40),),
    ),
    token_rule("notion-token", "ntn_", r"ntn_[A-Za-z0-9]{40,}", ("ntn_" + body(46),)),
    token_rule("figma-token", ("figd_", "figo_"), rf"fig[do]_{_WORD}{{30,}}", ("figd_" + body(40),)),
    token_rule(
        "airtable-token",
        "pat",
        r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}",
        ("pat" + body(14) + "." + hexadecimal(64),),
        ("pattern",),
    ),
    token_rule(
        "hubspot-token",
        "pat-",
        r"pat-(?:na|eu|ap)[0-9]-[a-f0-9-]{36}",
        ("pat-na1-" + "0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0",),
    ),
    token_rule("dropbox-token", "sl.", r"sl\.(?:u\.)?[A-Za-z0-9_-]{60,}", ("sl." + body(130),)),
    token_rule("facebook-token", "eaa", r"EAA[A-Za-z0-9]{80,}", ("EAA" + body(120),)),
    token_rule(
        "flutterwave-key", "flwseck", r"FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,}", ("FLWSECK_TEST-" + body(32),)
    ),
    token_rule("easypost-key", ("ezak", "eztk"), r"EZ[AT]K[A-Za-z0-9]{54}", ("EZAK" + body(54),)),
    token_rule("contentful-token", "cfpat-", rf"CFPAT-{_WORD}{{43}}", ("CFPAT-" + body(43),)),
    token_rule("prefect-key", ("pnu_", "pnb_"), r"pn[ub]_[A-Za-z0-9]{36}\b", ("pnu_" + body(36),)),
    token_rule(
        "mapbox-token",
        "sk.eyj",
        r"sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}",
        ("sk." + "eyJ" + body(60) + "." + body(22),),
    ),
)
