"""Free text: what goes and what stays."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest

from tests.redaction.support import BODY, redact

TOKENS = {
    "openai": "sk-" + "proj-" + BODY,
    "github": "ghp_" + BODY + "abcd",
    "aws": "AKIA" + "A2B3C4D5E6F7G2H3",
    "slack": "xoxb-" + "1234567890-" + BODY,
    "google": "AIza" + "Sy" + BODY + "1",
    "gitlab": "glpat-" + BODY[:20],
    "hugging face": "hf_" + BODY + "xy",
    "stripe": "sk_live_" + BODY,
    "jwt": "eyJ" + BODY + ".eyJ" + BODY + "." + BODY,
}
NEIGHBOURS = [
    "%s", "x %s y", "(%s)", "'%s'", '"%s"', "<%s>", "`%s`", "key:%s", "key=%s", "[%s]", "%s.", "%s,",
    "a\n%s\nb",
    "a\\n%s\\nb", "%%22%s%%22", "https://example.org/%s/y", "\t%s", "{%s}", "#%s", "/%s", "é%s é", "\ud800%s",
    "\x1b[0m%s\x1b[0m", "\\u0022%s\\u0022", "**%s**", "$%s", "=%s=", "|%s|", "\u0130\u0130 %s tail",
]  # fmt: skip


@pytest.mark.parametrize("neighbour", NEIGHBOURS)
@pytest.mark.parametrize("name", TOKENS)
def test_a_token_goes_whatever_stands_beside_it_and_nothing_else_does(name: str, neighbour: str) -> None:
    assert redact(neighbour % TOKENS[name]) == neighbour % "[secret removed]"


@pytest.mark.parametrize("inside", ["\n%s", "\t%s", '"%s"', "a\\%s", "é %s", "\ud800 %s", "\r\n%s\r\n"])
@pytest.mark.parametrize(
    "text",
    ["Bearer " + BODY, "password: hunter2x", "--token\tabc9def", *TOKENS.values()],
    ids=lambda text: text[:8],
)
def test_the_first_scan_of_a_whole_value_is_not_fooled_by_how_json_escapes_a_text(
    inside: str, text: str
) -> None:
    # Values are first scanned as one JSON text, where a line break is a letter glued to what follows.
    assert redact({"a": [inside % text]}) == {"a": [redact(inside % text)]}
    assert text not in redact(inside % text)


STRONG = "Tr0ub4dor-3z"
LOGIN = base64.b64encode(b"u:" + STRONG.encode()).decode()
GONE = {
    "assignment": ("password=hunter2", "hunter2"),
    "colon": ("password: hunter2", "hunter2"),
    "quoted word": ("password = 'hunter'", "hunter"),
    "environment word": ("DB_PASSWORD=correcthorse", "correcthorse"),
    "environment with marks": ("DB_PASSWORD=p@ss;w0rd,x", "w0rd"),
    "spaced name": ("API key: abc123def456", "abc123def456"),
    "annotation": ("password: str = 'hunter2'", "hunter2"),
    "keyword argument": ('Client(api_key="zzz")', "zzz"),
    "subscript": ("os.environ['API_KEY'] = 'abcde'", "abcde"),
    "ruby": (':password => "zzz9"', "zzz9"),
    "python dict": ("{'password': 'hunter2'}", "hunter2"),
    "escaped json": ('{\\"a\\": 1, \\"token\\": \\"zz9\\"}', "zz9"),
    "twice escaped json": ('{\\\\\\"token\\\\\\": \\\\\\"zz9\\\\\\"}', "zz9"),
    "json in prose": ('{"password":["a1b","c2d"]} and more', "c2d"),
    "json over lines": ('x {\n  "password":\n    "hunter2"\n}', "hunter2"),
    "html": ("&quot;password&quot;:&quot;hunter2&quot;", "hunter2"),
    "xml": ("<password>hunter2</password>", "hunter2"),
    "xml attributes": ('<add key="ApiKey" value="zzz9"/>', "zzz9"),
    "pairs": ("[('authorization', 'Bearer abc9defg'), ('x', 'y')]", "abc9defg"),
    "byte pairs": ("(b'x-api-key', b'abc9defgh')", "abc9defgh"),
    "option": ("run --token abc9 --x", "abc9"),
    "quoted option": ("run --password 'hunter two'", "hunter two"),
    "option with sign": ("run --api-key=zz9", "zz9"),
    "dockerfile": ("ENV API_KEY abc9", "abc9"),
    "form": ("user=u&password=Synthetic%20Pw&grant=x", "Synthetic"),
    "query": ("https://example.org/?access_token=abc&b=c", "=abc"),
    "html query": ("https://example.org/?a=1&amp;token=zz9&amp;b=2", "zz9"),
    "encoded name": ("https://example.org/?%61pi_key=abc9", "abc9"),
    "encoded joint": ("api%5Fkey=abc9def&x", "abc9def"),
    "encoded sign": ("?api_key%3Dabc9def", "abc9def"),
    "bearer": ("Bearer " + BODY, BODY),
    "bearer without digits": ("Authorization: Bearer my-opaque-words", "my-opaque-words"),
    "basic": ("Basic " + base64.b64encode(b"user:password1").decode(), "dXNlcjpw"),
    "digest": ('Authorization: Digest username="u", response="abcdef99"', "abcdef99"),
    "signature": ("Authorization: AWS4-HMAC-SHA256 Credential=AK/2026, Signature=abcdef0123", "abcdef0123"),
    "cookie": ("Cookie: a=b9; c=d9", "d9"),
    "set-cookie": ("Set-Cookie: sid=abc9; Path=/; HttpOnly", "abc9"),
    "postgres": ("postgres://user:p4ss@host/db", "p4ss"),
    "encoded password": ("mongodb+srv://u:p%40ss@h.example.org/x?retry=1", "p%40ss"),
    "password only": ("redis://:secretpw@h:6379", "secretpw"),
    "raw marks in password": ("postgres://u:p@ss/w@h:5432/d", "p@ss/w"),
    "jdbc": ("jdbc:mysql://h/db?user=a&password=zzz9", "zzz9"),
    "ado": ("Server=tcp:x;User ID=a;Password=P@ss w0rd;Encrypt=true", "P@ss"),
    "azure": ("SharedAccessKeyName=R;SharedAccessKey=" + BODY + "12345678901=", BODY),
    "curl": ("curl -u admin:pw-7 https://example.org", "pw-7"),
    "mysql": ("mysql -uroot -ps3cret db", "s3cret"),
    "docker": ("docker login -u me -p s3cretpw", "s3cretpw"),
    "below its name": ("db:\n  password: |\n    hunter2xy\n", "hunter2xy"),
    "netrc": ("machine example.org login me password abc", "abc"),
    "text data url": (
        "data:text/plain;base64," + base64.b64encode(b"password=hunter2x").decode(),
        "aHVudGVy",
    ),
    "percent data url": ("data:text/plain," + quote("password=hunter2x"), "hunter2x"),
    "mask": ("sk-" + "proj-********************abcd", "abcd"),
    "slack webhook": ("https://hooks.slack.com/services/T00/B00/" + BODY, BODY),
    "telegram": ("https://api.telegram.org/bot123456789:AA" + BODY + "x/getMe", BODY),
    **{
        name: (text.replace("@@", STRONG), STRONG)
        for name, text in {
            "yaml named": "- name: DB_PASSWORD\n  value: @@\n",
            "yaml named, turned": '- value: "@@"\n  name: DB_PASSWORD\n',
            "fish": "set -gx OPENAI_API_KEY @@",
            "setx": 'setx OPENAI_API_KEY "@@"',
            "element with attributes": '<wsse:Password Type="a b c">@@</wsse:Password>',
            "element with a prefix": "<ns:apiKey>@@</ns:apiKey>",
            "element with cdata": "<password><![CDATA[@@]]></password>",
            "escaped element": "&lt;password&gt;@@&lt;/password&gt;",
            "property list": "<key>ApiKey</key>\n<string>@@</string>",
            "attribute before its name": '<property value="@@" name="password"/>',
            "element named by an attribute": '<entry key="password">@@</entry>',
            "element in a named element": '<setting name="Password"><value>@@</value></setting>',
            "meta": '<meta name="csrf-token" content="@@">',
            "table": "| password | @@ |",
            "table with marks": "| **API_KEY** | `@@` |",
            "bold": "**Password:** @@",
            "bold name": "- **API Key**: `@@`",
            "sentence": "The password is @@ and nothing else",
            "quoted sentence": 'my api key is "@@"',
            "thin arrow": "password -> @@",
            "rust": 'let api_key: &str = "@@";',
            "wrapped": 'password=SecretStr("@@")',
            "rust string": 'password: String::from("@@")',
            "setter": 'setPassword("@@")',
            "define": '#define API_KEY "@@"',
            "array": 'char password[] = "@@";',
            "braces": 'std::string api_key{"@@"};',
            "property": 'public string ApiKey { get; set; } = "@@";',
            "fallback": "process.env.API_KEY || '@@'",
            "fallback of a call": 'api_key = os.environ.get("X") or "@@"',
            "added to its scheme": '"Authorization": "Bearer " + "@@"',
            "sql user": "CREATE USER x IDENTIFIED BY '@@'",
            "sql role": "ALTER ROLE x WITH LOGIN PASSWORD '@@'",
            "netrc default": "default login me password @@",
            "oracle": "jdbc:oracle:thin:scott/@@@//h:1521/s",
            "ldap": "ldapsearch -D cn=x -w @@",
            "openssl": "openssl enc -pass pass:@@",
            "keytool": "keytool -storepass @@",
            "zip": "zip -P @@ a.zip x",
            "docker by pipe": "echo @@ | docker login -u me --password-stdin",
            "chpasswd": "echo 'root:@@' | chpasswd",
            "become": "ansible_become_pass: @@",
        }.items()
    },
    "registry": ('{"auths": {"h": {"auth": "' + LOGIN + '"}}}', LOGIN),
    "two in one": ("a=ghp_" + BODY + "abcd, b=ghp_" + BODY + "abcd", BODY),
}


@pytest.mark.parametrize("name", GONE)
def test_goes(name: str) -> None:
    text, secret = GONE[name]
    result = redact(text)
    assert secret not in result
    assert "[secret removed]" in result or name in ("text data url", "percent data url")
    assert redact(result) == result


STAYS = [
    # prose
    "password: required", "Password: must be 8 chars", "token: the thing", "The secret: never give up",
    "The token is expired: please renew", "Secret Santa: Bob", "authorization: required",
    "cookie: a small file",
    "the secretary shared a secret recipe", "bearer of bad news 2024", "the bearer token 12", "basic auth",
    "Basic Training 101", "a basic understanding of things", "API key: not set",
    "Access token: expired at 12:30",
    "password: ", "Password:\n", "* `password` - the password", "| password | string | yes |", "Token: 5",
    "The token is base64url encoded", "the secret is UTF8String or none", "Password -> PasswordHash",
    "| password | string2 | yes |", "<label id=\"password\">Your password</label>", "**Password:** required",
    "- name: password\n  in: query\n  required: true", "<password/>", '<a accesskey="p" href="x">',
    # code
    "Token = rfc3161.Token", "ssl_credentials=regular_ssl_credentials)", "token: '#d8dee9'",
    'setPassword("password")', "secret_access_key=aws_secret_access_key,", "getToken(\"name\")",
    "a library identified by 'name'", "Bearer https://example.org/html/rfc6750",
    "def f(password, token=None):", "self.token = token", "password=password", "token=self.token",
    "if password == None:", "getpass('Password: ')", 'input("API key: ")', "api_key=os.getenv('X')",
    "token := get()", "secret = secrets.token_hex(16)", "token: Optional[str] = None", "api_key: str | None",
    "const token = await getToken();", "const { password } = req.body;", "password: process.env.DB_PASSWORD,",
    "private String password;", 'String token = request.getHeader("X");', "password?: string;",
    "token->value",
    'elif token == "with":',
    "if token == 0x33:",
    'def token(self) -> Token:\n    """Return the next token."""',
    'headers["Authorization"] = f"Bearer {api_key}"',
    "headers['authorization'] = (",
    "enforce(_credentials=_enforce_credentials)",
    "r.headers['Authorization'] = _digest_auth",
    "the --username and --password options",
    "self._custom_auth = AccessTokenAuth",
    'cookie = f"{cookie}; Path={path}"',
    "password: (bool, optional) hide it",
    "token = -1",
    "secret:\n  version2 of it: see below",
    "tokens:\n  password:\n    required: true",
    "SELECT password FROM users WHERE token = ?", "WHERE token = $1 AND password = :pw", "token = %s",
    'password = os.environ["DB_PASSWORD"]', 'api_key = get_key(); token = request.headers["x"]',
    # templates and placeholders
    "api_key=${API_KEY}", "api_key=$API_KEY", "token=%TOKEN%", "password=<password>", "password=***",
    "token=[REDACTED]", "api_key='YOUR_API_KEY'", 'api_key="your-api-key-here"', "{{ secrets.GITHUB_TOKEN }}",
    "token: ${{ secrets.GITHUB_TOKEN }}", "secret: !Ref Secret", "password: !vault |", "sk-...",
    "Bearer <token>",
    "[secret removed]", "password: [secret removed]", "Authorization: Bearer [secret removed]",
    # names and ids
    "tokens: 55", "max_tokens=10", "token_count: 17", "next_page_token=abc123def456", "?key=name&x=1",
    "key=value",
    "primary_key=True", "--token-file /x", "--password-stdin", "5f3c1e2d4b6a798081726354a5b6c7d8e9f00112",
    "550e8400-e29b-41d4-a716-446655440000", "msg_01ABCdefGHI23", "toolu_01A09q90qw90lq917835lq9",
    "chatcmpl-123abc456def", "req_011CSHoEeqs5C35K2UUqR7Fy", "fp_44709d6fcb", "org-abc123def456",
    "sha256-" + BODY + "=", "risk-assessment-2024-report-final", "sk-toggleable__content",
    'class="sk-spinner sk-spinner-wave sk-cube1"', "hf_hub_download(repo_id)", "npm_config_registry=x",
    "docker run -u 1000:1000 x", "git@github.com:o/r.git", "http://localhost:8080/a@b", "eyJ.abc",
    "-----BEGIN CERTIFICATE-----\nMIIC" + BODY + "\n-----END CERTIFICATE-----",
    "ssh-rsa AAAAB3NzaC1yc2E" + BODY + " me@host", "<password></password>", "PWD=/home/me", "C:\\Users\\me",
    "data:image/png;base64,iVBORw0KGgo" + "AKIA" + "A2B3C4D5E6F7G2H3" + "AAAA",
]  # fmt: skip


@pytest.mark.parametrize("text", STAYS)
def test_stays(text: str) -> None:
    assert redact(text) == text


def test_a_key_block_goes_whole_escaped_or_cut() -> None:
    head = "-----BEGIN PRIVATE " + "KEY-----"
    body = "MII" + BODY + "\n" + BODY + BODY + "\n" + BODY[:9]
    for text in (
        f"{head}\n{body}\n-----END PRIVATE KEY-----",
        f"{head}\n{body}\n-----END PRIVATE KEY-----".replace("\n", "\\n"),
        f"{head}\n{body}\n-----END PRIVATE KEY-----".replace("\n", "\\\\n"),
        f"{head} {body} -----END PRIVATE KEY-----".replace("\n", " "),
        f"{head}\n{body}",
    ):
        assert BODY[:9] not in redact(text)


def test_prose_after_a_key_block_that_was_cut_stays() -> None:
    text = "-----BEGIN PRIVATE " + f"KEY-----\nMII{BODY}\n{BODY}\nand then it is prose that stays"
    assert redact(text).endswith("and then it is prose that stays")
