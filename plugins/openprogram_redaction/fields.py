"""Field names whose value is a secret."""

from __future__ import annotations

from openprogram_core.redaction import FieldRule

SECRET_FIELD_NAMES: frozenset[str] = frozenset(
    {
        "authorization",
        "proxy-authorization",
        "api_key",
        "x-api-key",
        "x-goog-api-key",
        "api-key",
        "token",
        "access_token",
        "refresh_token",
        "id_token",
        "cookie",
        "set-cookie",
        "secret",
        "client_secret",
        "password",
        "session_key",
    }
)
"""The names every recording loses. The rules below cover these and their kin (``db_password``, ``githubToken``)."""

# Words before `token` that make it a cursor, a piece of text, or a number.
_HARMLESS_TOKENS = (
    "next token", "page token", "continuation token", "sync token", "pagination token", "resume token",
    "cursor token", "change token", "cancellation token", "start token", "end token", "stop token",
    "bos token", "eos token", "pad token", "unk token", "mask token", "sep token", "cls token", "sot token",
    "eot token", "special token", "image token", "audio token", "text token", "prompt token",
    "completion token", "input token", "output token", "cached token", "reasoning token", "total token",
    "thinking token", "max token", "min token", "num token", "first token", "last token", "previous token",
    "prev token", "current token", "new token", "draft token", "decoder token", "forced token",
    "per token", "1k token", "1m token", "k token", "m token", "idempotency token",
    "is token", "has token", "use token", "top token", "chosen token", "sampled token", "word token",
)  # fmt: skip

FIELD_RULES = (
    FieldRule(
        name="authorization",
        endings=("authorization", "proxy_authorization"),
        names=("x-authorization", "x-amz-security-token", "www-authenticate-token"),
        matches=("Authorization", "proxy-authorization", "x-amz-authorization"),
        rejects=("author", "authority", "authorization_url", "authorization_endpoint", "is_authorized"),
    ),
    FieldRule(
        name="api-key",
        endings=(
            "api_key", "api_keys", "api_token", "api_secret", "app_key", "app_secret", "api_key_value",
            "subscription_key", "functions_key", "x_goog_api_key", "license_key", "publishable_secret",
        ),  # fmt: skip
        matches=("api_key", "apiKey", "x-api-key", "x-goog-api-key", "OPENAI_API_KEY", "api_key_2", "apikey"),
        rejects=("api_key_id", "api_key_env", "api_key_required", "api_version", "cache_key", "app_key_path"),
    ),
    FieldRule(
        name="token",
        endings=("token",),
        names=("tokens_secret", "access_tokens", "refresh_tokens", "auth_tokens", "api_tokens", "bearer_tokens"),
        except_segments=_HARMLESS_TOKENS,
        matches=(
            "token", "access_token", "refresh_token", "id_token", "GITHUB_TOKEN", "authToken", "x-auth-token",
            "X-Amz-Security-Token", "csrf_token", "AWS_SESSION_TOKEN",
        ),  # fmt: skip
        rejects=(
            "max_tokens", "token_count", "tokenizer", "tokens", "token_type", "input_cost_per_token",
            "next_page_token", "nextToken", "eos_token", "prompt_tokens", "time_to_first_token",
        ),  # fmt: skip
    ),
    FieldRule(
        name="cookie",
        endings=("cookie", "cookies"),
        names=("set-cookie2",),
        except_names=("accept_cookies", "use_cookies", "has_cookie", "enable_cookies", "allow_cookies"),
        matches=("cookie", "Set-Cookie", "session_cookie", "cookies"),
        rejects=("cookie_policy", "cookiecutter", "accept_cookies"),
    ),
    FieldRule(
        name="secret",
        endings=(
            "secret", "secrets", "secret_key", "secret_access_key", "secret_key_base", "secret_token",
            "secret_value", "shared_secret", "client_secret_value",
        ),  # fmt: skip
        except_names=("is_secret", "has_secret", "use_secrets", "list_secrets"),
        matches=("secret", "client_secret", "clientSecret", "aws_secret_access_key", "SECRET_KEY_BASE"),
        rejects=("secretary", "secret_name", "secret_id", "secret_manager", "secret_arn", "secrets_path"),
    ),
    FieldRule(
        name="password",
        endings=(
            "password", "passwords", "passwd", "passphrase", "pass_phrase", "passcode", "user_pass", "db_pass",
            "password_hash", "password_confirmation", "password_value", "db_pwd", "user_pwd", "new_pwd",
            "smtp_pass", "mysql_pwd", "admin_pass", "redis_pass", "ftp_pass", "root_pass", "basic_auth_pass",
        ),  # fmt: skip
        names=("pgpassword", "mysqlpwd", "sshpass", "userpassword", "dbpassword", "rootpassword"),
        except_names=("has_password", "forgot_password", "reset_password", "show_password", "is_password"),
        matches=("password", "DB_PASSWORD", "userPassword", "passwd", "private_key_passphrase", "PGPASSWORD"),
        rejects=("password_policy", "password_hint", "password_reset_required", "passport", "compass"),
    ),
    FieldRule(
        name="credentials",
        endings=("credential", "credentials", "creds"),
        except_names=(
            "with_credentials", "access_control_allow_credentials", "allow_credentials", "requires_credentials",
            "require_credentials", "include_credentials", "has_credentials", "use_credentials",
            "missing_credentials", "invalid_credentials",
        ),  # fmt: skip
        matches=("credentials", "aws_credentials", "X-Amz-Credential", "db_creds"),
        rejects=("credentials_path", "credential_type", "with_credentials", "requires_credentials"),
    ),
    FieldRule(
        name="key-material",
        endings=(
            "private_key", "access_key", "account_key", "session_key", "encryption_key", "signing_key",
            "master_key", "shared_access_key", "storage_key", "service_key", "service_role_key", "auth_key",
            "webhook_key", "deploy_key", "ssh_key", "host_key", "hmac_key", "jwt_key", "private_key_pem",
            "private_key_data", "client_key_data", "preshared_key", "pre_shared_key", "webhook_secret",
            "shared_access_signature", "sas_token", "bearer", "jwt", "signing_secret", "root_key",
            "consumer_key", "decryption_key", "cookie_key", "recovery_key", "seed_phrase", "mnemonic_phrase",
        ),  # fmt: skip
        except_names=("public_host_key", "ssh_host_key"),
        matches=("private_key", "sessionKey", "AccountKey", "signing_key", "jwt", "SharedAccessKey"),
        rejects=(
            "public_key", "primary_key", "foreign_key", "cache_key", "prompt_cache_key", "idempotency_key",
            "key", "key_id", "access_key_id", "private_key_id", "partition_key", "sort_key", "keyboard",
        ),  # fmt: skip
    ),
)  # fmt: skip
