"""Secrets by their shape in texts: tokens with a scheme, JSON web tokens, key blocks, command lines."""

from __future__ import annotations

import base64

from openprogram_core.redaction import TOKEN_START, ValueRule
from openprogram_redaction._examples import body
from openprogram_redaction._patterns import with_digit

_TOKEN = "[A-Za-z0-9._~+/=:-]"
# An address after the word is documentation: `Bearer https://...`.
_TOKEN_HEAD = "[A-Za-z0-9._~+/=-]"
_BLANK = r"(?:[ \t]+|%20|\+|\\t)"
# Base64 of a text with a colon in it, by where the colon falls in its group of three bytes. Words such as
# `Options` look like a text that begins with a colon: that one must be longer.
_COLON_FIRST = r"O[g-v][A-Za-z0-9+/]{2}"
_COLON_LATER = r"(?:[A-Za-z0-9+/][DTjz][o-r][A-Za-z0-9+/=]|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]6)"
_BASE64_WITH_COLON = (
    rf"(?:(?:(?:[A-Za-z0-9+/]{{4}})+(?:{_COLON_FIRST}|{_COLON_LATER})|{_COLON_LATER})[A-Za-z0-9+/]*={{0,2}}"
    rf"|{_COLON_FIRST}[A-Za-z0-9+/]{{12,}}={{0,2}})"
)
# Line ends as they are, escaped at any depth, percent-encoded, or turned into blanks.
_LINE_END = r"(?:[ \t\r\n]|\\+[nrt]|\\+u000[adAD]|%0[AaDd]|&#1[03];)"
_BASE64 = r"(?:[A-Za-z0-9+/=]|\\/|%2[BbFf]|%3[Dd])"
_PEM_HEADER = rf"(?:[A-Z][A-Za-z-]{{2,20}}: [^\r\n\\]{{0,200}}{_LINE_END})"
_PEM_END = r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"

TEXT_RULES = (
    ValueRule(
        name="bearer-token",
        literals=("bearer ", "bearer\t", "bearer%20", "bearer+", "bearer\\t"),
        pattern=rf"(?i)\bbearer{_BLANK}+[\"'\\]*"
        rf"(?P<secret>{with_digit(_TOKEN_HEAD, 8)}{_TOKEN}*|[A-Za-z]{{24,}})",
        matches=("Authorization: Bearer " + body(30), "bearer " + body(12), "Bearer%20" + body(20)),
        rejects=(
            "Bearer authentication is described in RFC 6750",
            "the bearer of bad news",
            "Bearer ${TOKEN}",
            "Bearer https://example.org/rfc6750",
            "Bearer <token>",
        ),
    ),
    ValueRule(
        name="basic-credentials",
        literals=("basic ", "basic\t", "basic%20", "basic+"),
        pattern=rf"(?i:\bbasic){_BLANK}+[\"'\\]*(?P<secret>{_BASE64_WITH_COLON})",
        matches=("Basic " + base64.b64encode(b"user:" + body(9).encode()).decode(),),
        rejects=(
            "a basic understanding of authentication is required",
            "Basic authentication",
            "Basic Options",
            "BASIC programming",
        ),
    ),
    # Settings of container and package registries.
    ValueRule(
        name="registry-login",
        literals=('auth":', 'auth" :', "auth':", "auth="),
        pattern=rf"\b_?auth\\*[\"']?\s*[:=]\s*\\*[\"']?(?P<secret>{_BASE64_WITH_COLON})(?:[\\\"'\s]|\z)",
        matches=('"auth": "' + base64.b64encode(b"user:" + body(9).encode()).decode() + '"',),
        rejects=('"auth": "Options"', '"auth": "OpenIDConnect"', "auth=basic"),
    ),
    ValueRule(
        name="scheme-token",
        literals=(
            "authorization: token ",
            "authorization: apikey ",
            "authorization: bot ",
            "deepl-auth-key ",
            "genie-key ",
        ),
        pattern=r"(?i)(?:authorization: (?:token|apikey|bot)|deepl-auth-key|genie-key)[ \t]+"
        rf"(?P<secret>{with_digit(_TOKEN, 8)})",
        matches=("Authorization: Token " + body(20), "DeepL-Auth-Key " + body(20)),
        rejects=("authorization: token based",),
    ),
    ValueRule(
        name="json-web-token",
        literals=("eyj",),
        pattern=rf"{TOKEN_START}(?P<secret>eyJ[A-Za-z0-9_-]{{8,}}\.eyJ[A-Za-z0-9_-]{{8,}}(?:\.[A-Za-z0-9_-]*)?"
        r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})",
        matches=("eyJ" + body(20) + ".eyJ" + body(30) + "." + body(43),),
        rejects=("eyJustSaying is not a token and neither is eyJ.abc", "eyJ" + body(30)),
    ),
    # The whole block, and what is left of one that was cut short.
    ValueRule(
        name="private-key-block",
        literals=("-----begin ",),
        pattern=r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
        rf"(?P<secret>(?:{_LINE_END}|{_PEM_HEADER})*(?:{_BASE64}{{20,}}{_LINE_END}*)+"
        rf"(?:{_BASE64}{{1,19}}{_LINE_END}*)?)(?:{_PEM_END}|\z)"
        r"|-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
        rf"(?:{_LINE_END}|{_PEM_HEADER})*(?:{_BASE64}{{20,}}{_LINE_END}*)+(?:=[A-Za-z0-9+/]{{4}}\b)?",
        matches=(
            "-----BEGIN RSA PRIVATE "
            + "KEY-----\n"
            + body(64)
            + "\n"
            + body(64)
            + "\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN PRIVATE " + "KEY-----\\n" + body(64),
        ),
        rejects=("-----BEGIN CERTIFICATE-----\n" + body(64), "-----BEGIN PUBLIC KEY-----\n" + body(64)),
    ),
    ValueRule(
        name="putty-key",
        literals=("private-lines:", "private-mac:"),
        pattern=r"Private-(?:Lines: [0-9]+|MAC:)\s+(?P<secret>[A-Za-z0-9+/=\s]{20,})",
        matches=("Private-Lines: 4\n" + body(64) + "\n" + body(64),),
    ),
    ValueRule(
        name="http-tool-login",
        literals=(" -u", "--user ", "--user=", "--proxy-user ", " -a "),
        pattern=r"\b(?:curl|wget|https?|xh|httpie)\b[^\n]{0,200}?[ \t](?:-u|-a|--user|--proxy-user)[ =]?"
        r"[\"']?[^\s:\"'$]{0,64}:(?P<secret>[^\s\"'$<{][^\s\"']*)",
        matches=("curl -u admin:pw-7-" + body(6) + " https://example.org",),
        rejects=("docker run -u 1000:1000 image", "curl -u $USER:$PASSWORD https://example.org"),
    ),
    ValueRule(
        name="database-tool-login",
        literals=(
            "mysql ",
            "mysqldump ",
            "mysqladmin ",
            "mariadb ",
            "sshpass ",
            "redis-cli ",
            "docker login ",
            "podman login ",
            "mongosh ",
            "az login ",
            "twine upload ",
            "oc login ",
            "registry login ",
            "sqlcmd ",
            "zip -",
            "7z ",
            "htpasswd ",
            "ldapsearch ",
            "ldapadd ",
            "ldapmodify ",
            "snowsql ",
        ),
        pattern=r"\b(?:(?:mysql|mysqldump|mysqladmin|mariadb)[ \t](?:[^\n]{0,150}?[ \t])?-p"
        r"|sshpass[ \t]+-p[ \t]*|redis-cli[ \t](?:[^\n]{0,150}?[ \t])?-a[ \t]+"
        r"|(?:docker|podman)[ \t]+login[ \t](?:[^\n]{0,150}?[ \t])?-p[ \t]+"
        r"|(?:mongosh|az[ \t]+login|twine[ \t]+upload|oc[ \t]+login|registry[ \t]+login)[ \t]"
        r"(?:[^\n]{0,150}?[ \t])?-p[ \t]+"
        r"|sqlcmd[ \t](?:[^\n]{0,150}?[ \t])?-P[ \t]*|zip[ \t](?:[^\n]{0,40}?[ \t])?-P[ \t]+"
        r"|7z[ \t][^\n]{0,150}?[ \t]-p|htpasswd[ \t]+-[cBdsm]*b[cBdsm]*[ \t]+\S+[ \t]+\S+[ \t]+"
        r"|ldap(?:search|add|modify)[ \t](?:[^\n]{0,150}?[ \t])?-w[ \t]+)[\"']?"
        r"(?P<secret>[^\s\"'$<{-][^\s\"']{2,})",
        matches=(
            "mysql -u root -p" + body(8) + " shop",
            "sshpass -p '" + body(9) + "' ssh host",
            "az login -u me -p " + body(9),
            "zip -P " + body(9) + " a.zip b",
            "htpasswd -b file me " + body(9),
            "ldapsearch -D cn=x -w " + body(9),
        ),
        rejects=("mysql -u root -p shop", "sshpass -p $PW ssh host"),
    ),
    ValueRule(
        name="netrc-login",
        literals=("machine ", "default login "),
        pattern=r"\b(?:machine\s+\S+|default)\s+login\s+\S+\s+password\s+(?P<secret>[^\s{$<]\S*)",
        matches=("machine example.org login me password " + body(12),),
    ),
    ValueRule(
        name="connection-string-password",
        literals=("pwd=", "pwd =", "password=", "password ="),
        pattern=r"(?i)(?:;|\b(?:uid|user(?: id)?|server|database|driver)=[^;\s]{0,64};[^\n]{0,100}?)\s*"
        r"(?:pwd|password) ?= ?(?P<secret>'[^'\n]+'|\"[^\"\n]+\"|\{[^}\n]+\}|[^;\s\"'&]+)",
        matches=(
            "Server=db;Uid=app;Pwd=" + body(8) + ";Database=x",
            "Server=db;Password='" + body(4) + " x';",
        ),
        rejects=("PWD=/home/me", "cd /tmp; pwd"),
    ),
    ValueRule(
        name="sql-password",
        literals=("identified by", "password '", 'password "', "password for ", "password="),
        pattern=r"(?:\bIDENTIFIED(?:\s+WITH\s+\w+)?\s+BY(?:\s+PASSWORD)?\s+"
        r"|(?i:\b(?:create|alter)\s+(?:user|role|login)\s+\S{1,80}\s[^;\n'\"]{0,60}?\bpassword(?:\s*=)?\s*)"
        r"|(?i:\bset\s+password\s+for\s+[^=;\n]{1,80}=\s*(?:password\()?))"
        r"['\"](?P<secret>[^'\"\n:$%<{?][^'\"\n]*)['\"]",
        matches=(
            "CREATE USER x IDENTIFIED BY '" + body(4) + " x'",
            "ALTER ROLE x WITH LOGIN PASSWORD '" + body(9) + "'",
            "SET PASSWORD FOR x = '" + body(9) + "'",
        ),
        rejects=(
            "a library identified by 'name'",
            "CREATE USER x IDENTIFIED BY '%s'",
            "ALTER ROLE x PASSWORD NULL",
        ),
    ),
    ValueRule(
        name="tool-passphrase",
        literals=(" pass:", "-storepass ", "-keypass "),
        pattern=r"(?:[ \t]-(?:pass|passin|passout|k)[ \t]+pass:|[ \t]-(?:storepass|keypass)[ \t]+)"
        r"[\"']?(?P<secret>[^\s\"'$<{][^\s\"']{2,})",
        matches=(
            "openssl enc -pass pass:" + body(9),
            "keytool -storepass " + body(9),
        ),
        rejects=("openssl rsa -passin pass:$PW", "the pass: a mountain road"),
    ),
    ValueRule(
        name="redis-password",
        literals=("requirepass ", "masterauth "),
        pattern=rf"\b(?:requirepass|masterauth)[ \t]+[\"']?(?P<secret>{with_digit('[!-~]', 6)})",
        matches=("requirepass " + body(9),),
        rejects=("requirepass is an option", "requirepass foobared"),
    ),
    ValueRule(
        name="oracle-login",
        literals=("jdbc:oracle:", "sqlplus ", "sqlldr ", "expdp ", "impdp "),
        pattern=r"(?i)(?:jdbc:oracle:(?:thin|oci8?):|\b(?:sqlplus|sqlldr|expdp|impdp)[ \t]+(?:-\w+[ \t]+)*)"
        r"[\w$#]{1,64}/(?P<secret>[^\s@/\"'$<{][^\s@\"']*)@",
        matches=("jdbc:oracle:thin:scott/" + body(9) + "@//h:1521/s", "sqlplus scott/" + body(9) + "@orcl"),
        rejects=("jdbc:oracle:thin:@h:1521:s", "sqlplus / as sysdba"),
    ),
    ValueRule(
        name="piped-login",
        literals=("echo ",),
        pattern=r"\becho[ \t]+(?:-[neE]+[ \t]+)?[\"']?[a-z_][\w-]{0,31}:"
        r"(?P<secret>[^\s\"'$<{:][^\s\"':]*)[\"']?[ \t]*\|[ \t]*(?:sudo[ \t]+)?chpasswd\b",
        matches=("echo 'root:" + body(9) + "' | chpasswd", "echo root:" + body(9) + " | sudo chpasswd"),
        rejects=("echo $USER:$PW | chpasswd",),
    ),
    ValueRule(
        name="stored-secret",
        literals=("gh secret set ", "--secret-string"),
        pattern=r"(?:\bgh[ \t]+secret[ \t]+set[ \t][^\n]{0,150}?(?:--body|-b)[ =]|--secret-string[ =])[\"']?"
        r"(?P<secret>[^\s\"'$<{][^\s\"']*)",
        matches=("gh secret set NAME --body " + body(9), "--secret-string '" + body(9) + "'"),
        rejects=("gh secret set NAME --body $VALUE",),
    ),
    ValueRule(
        name="piped-secret",
        literals=("echo ",),
        pattern=r"\becho[ \t]+(?:-[neE]+[ \t]+)?[\"']?(?P<secret>[^\s\"'$<{|]+)[\"']?[ \t]*\|[^|\n]{0,80}?"
        r"(?:wrangler[ \t]+secret[ \t]+put|--password-stdin|--with-token|--data-file=-)",
        matches=(
            "echo " + body(9) + " | wrangler secret put NAME",
            "echo '" + body(9) + "' | docker login -u me --password-stdin",
        ),
        rejects=('echo "$TOKEN" | gh auth login --with-token',),
    ),
)
