"""Lines of tool output with secrets in them, and lines that only look like it.

The fake secrets are put together when the tests run, from prefixes and digests, so that this file itself holds
nothing that a scanner would take for one. In a line, `{}` stands for a secret; all around it must stay.
"""

from __future__ import annotations

import base64
import hashlib
import string
from dataclasses import dataclass

UPPER = string.ascii_uppercase + "234567"
ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
SAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"
DIGITS = string.digits


def fake(alphabet: str, length: int, seed: str) -> str:
    """Letters that look random and are always the same."""
    out = ""
    block = 0
    while len(out) < length:
        digest = hashlib.sha256(f"{seed}/{block}".encode()).digest()
        out += "".join(alphabet[byte % len(alphabet)] for byte in digest)
        block += 1
    return out[:length]


def luhn(digits: str) -> str:
    """The digits with their Luhn check digit."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if place % 2 == 0 else 1)
        total += value - 9 if value > 9 else value
    return digits + str(-total % 10)


def iban(country: str, account: str) -> str:
    """An IBAN with the right check digits."""
    number = int("".join(str(int(c, 36)) for c in account + country + "00"))
    return f"{country}{98 - number % 97:02d}{account}"


def spaced(text: str, size: int = 4, joint: str = " ") -> str:
    return joint.join(text[place : place + size] for place in range(0, len(text), size))


def pem(kind: str = "RSA ", lines: int = 3) -> list[str]:
    body = [fake(BASE64, 64, f"pem{kind}{n}") for n in range(lines - 1)] + [fake(BASE64, 30, f"pem{kind}") + "=="]
    return [f"-----BEGIN {kind}PRIVATE KEY-----", *body, f"-----END {kind}PRIVATE KEY-----"]


def jwt(seed: str) -> str:
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    body = base64.urlsafe_b64encode(f'{{"sub":"{seed}","iat":1516239022}}'.encode()).decode().rstrip("=")
    return f"{head}.{body}.{fake(SAFE, 43, seed)}"


def basic(user: str, password: str) -> str:
    return base64.b64encode(f"{user}:{password}".encode()).decode()


@dataclass(frozen=True, slots=True)
class Case:
    """A line with a `{}` for each secret.

    Attributes:
        kind: what sort of secret it is, for the report.
        line: the line around the secrets.
        secrets: what stands in the gaps.
    """

    kind: str
    line: str
    secrets: tuple[str, ...]

    @property
    def text(self) -> str:
        text = self.line
        for secret in self.secrets:
            text = text.replace("{}", secret, 1)
        return text


def _case(kind: str, line: str, *secrets: str) -> Case:
    assert line.count("{}") == len(secrets), line
    return Case(kind, line, secrets)


CARD = luhn("411111111111111")
AMEX = luhn("37144963539843")
MASTERCARD = luhn("555555555555444")

SECRETS: tuple[Case, ...] = (
    # AWS
    _case("aws key id", "aws_access_key_id = {}", "AKIA" + fake(UPPER, 16, "aws1")),
    _case(
        "aws key id", "Found credentials in environment variables: {} (region eu-west-1)", "AKIA" + fake(string.ascii_uppercase, 16, "aws2")
    ),
    _case("aws key id", "ASSUMED_ROLE_KEY={} expires 2026-01-01", "ASIA" + fake(UPPER, 16, "aws3")),
    _case("aws secret", "aws_secret_access_key = {}", fake(BASE64, 40, "awss1")),
    _case("aws secret", 'AWS_SECRET_ACCESS_KEY="{}"', fake(BASE64, 40, "awss2")),
    _case(
        "aws secret", "User name,Access key ID,Secret access key\nbuild,{},{}", "AKIA" + fake(UPPER, 16, "aws4"), fake(BASE64, 40, "awss3")
    ),
    _case(
        "aws secret",
        '{"AccessKeyId": "{}", "SecretAccessKey": "{}", "Expiration": "2026-05-01T10:00:00Z"}',
        "ASIA" + fake(UPPER, 16, "aws5"),
        fake(BASE64, 40, "awss4"),
    ),
    _case("aws signed url", "GET https://b.s3.amazonaws.com/k?X-Amz-Expires=900&X-Amz-Signature={}&x=1", fake(HEX, 64, "awssig")),
    # Google, Azure
    _case("google api key", "https://maps.googleapis.com/maps/api/geocode/json?address=Kiel&key={}", "AIza" + fake(SAFE, 35, "g1")),
    _case("google oauth", "refreshing with {} ... ok", "ya29." + fake(SAFE, 60, "g2")),
    _case("google oauth", "client_secret: {}", "GOCSPX-" + fake(SAFE, 28, "g3")),
    _case("google refresh", "refresh_token={}", "1//0g" + fake(SAFE, 60, "g4")),
    _case(
        "azure storage",
        "DefaultEndpointsProtocol=https;AccountName=st1;AccountKey={};EndpointSuffix=core.windows.net",
        fake(BASE64, 86, "az1") + "==",
    ),
    _case(
        "azure service bus",
        "Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={}",
        fake(BASE64, 43, "az2") + "=",
    ),
    _case(
        "azure sas",
        "https://st1.blob.core.windows.net/c/f.csv?sv=2023-01-03&se=2026-02-02&sr=b&sp=r&sig={}",
        fake(ALNUM, 40, "az3") + "%3D",
    ),
    _case("azure client secret", "AZURE_CLIENT_SECRET {}", fake(ALNUM, 3, "az4") + "8Q~" + fake(SAFE, 34, "az4")),
    # code hosts, packages
    _case("github token", "remote: https://x-access-token:{}@github.com/acme/app.git", "ghs_" + fake(ALNUM, 36, "gh1")),
    _case("github token", "GITHUB_TOKEN={}", "ghp_" + fake(ALNUM, 36, "gh2")),
    _case("github token", "git push https://{}@github.com/acme/app main", "gho_" + fake(ALNUM, 36, "gh3")),
    _case("github pat", "token: {}", "github_pat_" + fake(ALNUM, 22, "gh4") + "_" + fake(ALNUM, 59, "gh4")),
    _case("gitlab token", "curl --header 'PRIVATE-TOKEN: {}' https://gitlab.example/api/v4/projects", "glpat-" + fake(SAFE, 20, "gl1")),
    _case("npm token", "//npm.packages.example/:_authToken={}", "npm_" + fake(ALNUM, 36, "npm")),
    _case("pypi token", "twine upload -u __token__ -p {} dist/*", "pypi-AgEIcHlwaS5vcmc" + fake(SAFE, 60, "pypi")),
    _case("rubygems", ":rubygems_api_key: {}", "rubygems_" + fake(HEX, 48, "ruby")),
    _case("docker pat", "docker login -u acme -p {}", "dckr_pat_" + fake(SAFE, 27, "dock")),
    # chat
    _case("slack token", "SLACK_BOT_TOKEN={}", f"xoxb-{fake(DIGITS, 12, 's1')}-{fake(DIGITS, 12, 's2')}-{fake(ALNUM, 24, 's3')}"),
    _case(
        "slack webhook",
        "curl -X POST https://hooks.slack.com/services/{} -d @m.json",
        f"T{fake(UPPER, 8, 's4')}/B{fake(UPPER, 8, 's5')}/{fake(ALNUM, 24, 's6')}",
    ),
    _case("discord webhook", "POST https://discord.com/api/webhooks/1122334455667788990/{} 204", fake(SAFE, 68, "d1")),
    _case("discord token", "client.run('{}')", f"M{fake(ALNUM, 23, 'd2')}.{fake(SAFE, 6, 'd3')}.{fake(SAFE, 38, 'd4')}"),
    _case("telegram token", "https://api.telegram.org/bot{}/getMe", f"{fake('123456789', 10, 't1')}:AA{fake(SAFE, 33, 't2')}"),
    # payment, mail, telephony
    _case("stripe key", "stripe.api_key = '{}'", "sk_live_" + fake(ALNUM, 24, "st1")),
    _case("stripe key", "using restricted key {} for test mode", "rk_test_" + fake(ALNUM, 30, "st2")),
    _case("stripe webhook", "STRIPE_WEBHOOK_SECRET={}", "whsec_" + fake(ALNUM, 32, "st3")),
    _case("twilio", "twilio api key {} revoked", "SK" + fake(HEX, 32, "tw1")),
    _case("twilio", 'Client("AC' + fake(HEX, 32, "tw3") + '", "{}")', fake(HEX, 32, "tw4")),
    _case("twilio", "auth_token: {}", fake(HEX, 32, "tw2")),
    _case("sendgrid", "Authorization failed for {}", f"SG.{fake(SAFE, 22, 'sg1')}.{fake(SAFE, 43, 'sg2')}"),
    _case("mailgun", "curl -s --user 'api:{}' https://api.mailgun.net/v3/d/messages", "key-" + fake(HEX, 32, "mg")),
    _case("mailchimp", "MC key {} accepted", fake(HEX, 32, "mc") + "-us12"),
    # model providers
    _case("openai key", "OPENAI_API_KEY={}", "sk-" + fake(ALNUM, 48, "oa1")),
    _case("openai key", 'client = OpenAI(api_key="{}")', "sk-proj-" + fake(SAFE, 80, "oa2")),
    _case(
        "openai key",
        "Incorrect API key provided: {}. You can find your API key at https://platform.openai.com",
        "sk-" + fake(ALNUM, 48, "oa3"),
    ),
    _case("anthropic key", "x-api-key: {}", "sk-ant-api03-" + fake(SAFE, 93, "an1")),
    _case("huggingface", "HF_TOKEN={} huggingface-cli login", "hf_" + fake(string.ascii_letters, 34, "hf1")),
    _case("groq", "GROQ_API_KEY: {}", "gsk_" + fake(ALNUM, 52, "gr")),
    _case("replicate", "export REPLICATE_API_TOKEN={}", "r8_" + fake(ALNUM, 37, "re")),
    _case("vendor token", "export API_TOKEN={}", "sk-sp-AAAA.BBBB" + "_cccc"),
    # infrastructure
    _case("digitalocean", "doctl auth init -t {}", "dop_v1_" + fake(HEX, 64, "do")),
    _case("vault", "VAULT_TOKEN={} vault read secret/data/app", "hvs." + fake(SAFE, 90, "hv")),
    _case("databricks", "DATABRICKS_TOKEN={}", "dapi" + fake(HEX, 32, "db")),
    _case("grafana", 'headers: {"X-Grafana": "{}"}', "glsa_" + fake(ALNUM, 32, "gf") + "_" + fake(HEX, 8, "gf")),
    _case("shopify", "X-Shopify-Access-Token: {}", "shpat_" + fake(HEX, 32, "sh")),
    _case("terraform", "TF token {} valid", fake(ALNUM, 14, "tf") + ".atlasv1." + fake(SAFE, 67, "tf")),
    _case("atlassian", "jira token is {}", "ATATT3xFfGF0" + fake(SAFE, 60, "at")),
    _case("age key", "{}\n# public key: age1xyz", "AGE-SECRET-KEY-1" + fake(UPPER, 58, "age")),
    # JSON web tokens
    _case("jwt", "Set id_token to {} and retry", jwt("u1")),
    _case("jwt", '{"access_token": "{}", "expires_in": 3600}', jwt("u2")),
    _case("jwt", "cookie jwt={}; other=1", jwt("u3")),
    _case("jwt", "log\\n{}\\nend", jwt("u4")),
    # private keys
    _case("private key", "cat id_rsa\n{}\n$ ls", "\n".join(pem())),
    _case("private key", "{} done", "\n".join(pem("", 3))),
    _case("private key", '{"type": "service_account", "private_key": "{}\\n", "client_email": "x"}', "\\n".join(pem(""))),
    _case("private key", "head -3 key.pem\n{}", "\n".join(pem("EC ")[:3])),
    _case("private key", "     1\t{}\n     5\tend", "\n     2\t".join(pem("OPENSSH "))),
    _case("private key", "echo {} | base64 -d", base64.b64encode("\n".join(pem("RSA ", 2)).encode()).decode()),
    # passwords in addresses
    _case("url password", "postgres://u:{}@h/db", "p4ss"),
    _case("url password", "DATABASE_URL=postgresql+psycopg://app:{}@db.internal:5432/app?sslmode=require", fake(ALNUM, 12, "u1")),
    _case("url password", "redis://:{}@cache:6379/0 connected", "s3cr3t"),
    _case("url password", "mongodb+srv://root:{}@cluster0.ab1cd.mongodb.net/test", "Sw0rdf!sh"),
    _case("url password", "fetch https://bob:{}@files.example/a.zip: 200", "swordfish"),
    _case("url password", "amqp://guest:{}@mq:5672/%2f", "hunter2"),
    _case("url password", "mysql dsn app:{}@tcp(10.0.0.5:3306)/shop?parseTime=true", "Zx81pqr"),
    # names beside values
    _case("password", "password: {}", "hunter2"),
    _case("password", "PASSWORD={}", "Tr0ub4dor&3"),
    _case("password", 'db.connect(host="h", user="u", password="{}")', "p@ssw0rd!"),
    _case("password", '{"username": "bob", "password": "{}"}', "correcthorse9"),
    _case("password", '{\\"username\\": \\"bob\\", \\"password\\": \\"{}\\"}', "tiger-77x"),
    _case("password", "login --user bob --password {}", "x9k2"),
    _case("password", "login --password={} --user bob", "swordfish1"),
    _case("password", "The password is {}. Change it soon.", "Xk9mm2pq"),
    _case("password", "changed the password to {} for bob", "n3wP4ss"),
    _case("password", "spring.datasource.password={}", "Ab12cd34"),
    _case("password", "<password>{}</password>", "q1w2e3r4"),
    _case("password", '<add key="DbPassword" value="{}"/>', "q1w2e3r4"),
    _case("password", "- name: DB_PASSWORD\n  value: {}", "k8s-pw-77aa1"),
    _case("password", "mysql -u root -p{} shop < dump.sql", "R00tpw"),
    _case("password", "sshpass -p {} ssh admin@10.0.0.1", "l3tm31n"),
    _case("password", "curl -u admin:{} https://host/api", "c0rrect9"),
    _case("password", "PGPASSWORD={} psql -h db", "pg_9x7w2"),
    _case("password", "host=h user=u password={} dbname=d", "dsn77pw"),
    _case("password", "Server=s;Database=d;User Id=sa;Password={};Encrypt=yes", "Str0ngPw"),
    _case("password", "machine h login u password {}", "n3trc99"),
    _case("password", "| user | password |\n| password | {} |", "t4ble9pw"),
    _case("password", "passphrase='{}'", "0pen-S3same"),
    _case("password", "Passwort: {}", "geheim77"),
    _case("password", "contrase\u00f1a: {}", "clave123"),
    _case("password", "\u5bc6\u7801\uff1a{}\uff0c\u8bf7\u52ff\u5916\u4f20", "abc12345"),
    _case("password", "\u30d1\u30b9\u30ef\u30fc\u30c9\u306f {} \u3067\u3059", "sakura77"),
    _case("secret", "client_secret={}&grant_type=client_credentials", fake(ALNUM, 32, "n1")),
    _case("secret", "SECRET_KEY = '{}'", "django-insecure-" + fake(ALNUM, 40, "n2")),
    _case("secret", "JWT_SECRET: {}", fake(BASE64, 44, "n3")),
    _case("secret", 'signing_key: "{}"', fake(HEX, 64, "n4")),
    _case("api key", "api_key={}&q=1", fake(ALNUM, 32, "n5")),
    _case("api key", "X-API-Key: {}", fake(ALNUM, 40, "n6")),
    _case("api key", 'apiKey: "{}",', fake(HEX, 32, "n7")),
    _case("api key", "Your API key: {}", fake(ALNUM, 24, "n8")),
    _case("api key", "--api-key {} --region eu", fake(ALNUM, 20, "n9")),
    _case("token", "access_token: {}", fake(ALNUM, 40, "n10")),
    _case("token", "?token={}&page=2", fake(HEX, 40, "n11")),
    _case("token", '"refreshToken":"{}"', fake(SAFE, 64, "n12")),
    _case("token", 'token = "{}"', "0f8fad5b-d9cb-469f-a165-70867728950e"),
    _case("bearer", "Authorization: Bearer {}", fake(SAFE, 40, "b1")),
    _case("bearer", 'headers={"Authorization": "Bearer {}"}', fake(ALNUM, 32, "b2")),
    _case("bearer", "-H 'authorization: bearer {}' -d 1", fake(ALNUM, 48, "b3")),
    _case("basic auth", "Authorization: Basic {}", basic("bob", "hunter2")),
    _case("basic auth", '"auths": {"registry.example": {"auth": "{}"}}', basic("bob", "s3cr3t-77")),
    _case("cookie", "Cookie: theme=dark; sessionid={}; lang=en", fake(ALNUM, 32, "c1")),
    _case("cookie", "Set-Cookie: sid={}; Path=/; HttpOnly", fake(SAFE, 40, "c2")),
    _case("cookie", "JSESSIONID={}", fake(HEX.upper(), 32, "c3")),
    # personal data
    _case("card", "Card {} was declined", CARD),
    _case("card", "pay with {} exp 12/27", spaced(CARD)),
    _case("card", '"number": "{}"', spaced(MASTERCARD, joint="-")),
    _case("card", "amex {}.", f"{AMEX[:4]} {AMEX[4:10]} {AMEX[10:]}"),
    _case("iban", "transfer to {} today", iban("DE", "370400440532013000")),
    _case("iban", "IBAN: {} (BIC X)", spaced(iban("GB", "NWBK60161331926819"))),
    _case("email", "sent to {} and others", "jane.doe+x@mail.example.com"),
    _case("email", '{"email": "{}", "id": 7}', "mia.li3818@example.com"),
    _case("email", "From: Jane <{}>", "jane@example.org"),
    _case("email", "\u8bf7\u8054\u7cfb{}\u8c22\u8c22", "bob@corp.example"),
    _case("phone", "Call {} now", "+1 (555) 123-4567"),
    _case("phone", "Call {} now", "(555) 123-4567"),
    _case("phone", "office: {}", "+49 30 901820"),
    _case("phone", "tel {}", "+442079460958"),
    _case("phone", "reach me at {}, thanks", "555-123-4567"),
    _case("phone", '"phone_number": "{}"', "5551234567"),
    _case("phone", "Phone: {}", "020 7946 0958"),
    _case("phone", "\u624b\u673a\u53f7\uff1a{}", "13812345678"),
    _case("ssn", "SSN: {}", "078-05-1120"),
)

KEPT: tuple[str, ...] = (
    "TWILIO_ACCOUNT_SID=AC" + fake(HEX, 32, "tw1"),
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  model.bin",
    "md5 d41d8cd98f00b204e9800998ecf8427e",
    "request_id=0f8fad5b-d9cb-469f-a165-70867728950e",
    "session_id: 0f8fad5b-d9cb-469f-a165-70867728950e",
    "run 01J9ZQ6W3K9V8XJ5T2Y7B4N0PD started",
    "a risk-based approach",
    "task-oriented dialogue and desk-sharing",
    "access_token=spotify_access_token",
    "login(username=email, password=spotify_password)",
    "token = get_token()",
    'password=os.environ["PW"]',
    "api_key: str",
    "def login(user: str, password: str) -> Token:",
    "token: Optional[str] = None",
    "Authorization: Bearer <YOUR_API_KEY>",
    "export API_TOKEN=${API_TOKEN}",
    "curl -H 'Authorization: Bearer $TOKEN' https://host/api",
    "headers = {'Authorization': f'Bearer {token}'}",
    "api_key = config.api_key",
    "secret = settings.SECRET_KEY",
    "password = getpass.getpass()",
    "password: required",
    '"password": "string"',
    '{"type": "string", "name": "password", "description": "The password of the account"}',
    '"password": "Invalid password"',
    "password must have 8 characters and a digit",
    "The password is case-sensitive.",
    "Password: minimum 12 characters",
    "The token is 3600 seconds old",
    "token expired at 2024-05-15T15:00:00Z",
    "The token is base64-encoded.",
    "The secret is sha256-hashed before it is stored.",
    "use --password to set the password",
    "--token and --api-key are mutually exclusive",
    "pass --password-stdin instead",
    "docker login --password-stdin",
    "max_tokens=4000",
    "tokens: 250",
    "prompt_tokens=1200, completion_tokens=310",
    "token_type: bearer",
    "next_page_token=abc123def456ghi7",
    '"pageToken": "CAUQAA1234567890abcd"',
    "token_endpoint = https://auth.example/oauth2/token",
    "password_hash algorithm: argon2id",
    "password_min_length: 12",
    "primary_key: user_id_20240515",
    "foreign key orders_customer_fk2",
    "public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8Zx5vTq1",
    "cache_key=user:42:profile:v3",
    "sort key invoice_2024_05",
    "keyboard shortcuts: ctrl-k 12",
    "secretary: J2 Smith",
    "author: bob42x9",
    "tokenizer: bert-base-uncased-v2",
    "tokenize(text2vec)",
    "[redacted:password] stays",
    "password=[redacted:password]",
    "password: ********",
    "password: <hidden>",
    "api_key: YOUR_API_KEY_HERE",
    "api_key=xxxxxxxxxxxxxxxxxxxx",
    "OPENAI_API_KEY=sk-...",
    "key sk-your-api-key-goes-here",
    "AKIAXXXXXXXXXXXXXXXX is a placeholder",
    "token ghp_" + "x" * 36,
    "class sk-estimator-id-1 sk-toggleable__label-arrow",
    "hf_model_name_or_path=bert",
    "npm_config_registry is set",
    "pypi-publish-action-for-tags",
    "postgres://${USER}:${PASS}@host/db",
    "postgres://user:password@localhost/db",
    "postgres://user:<password>@host/db",
    "https://user@host.example/repo.git",
    "git@github.com:acme/app.git",
    "ssh ubuntu@ec2-1-2-3-4.compute.amazonaws.com",
    "scp a.txt deploy@build.example.com:/srv/app",
    "actions/checkout@v4",
    "npm install left-pad@1.3.0 @types/node@20.11.5",
    "import icon@2x.png",
    "@app.route('/users')",
    "y = x @ w.transpose(0, 1)",
    "version 1.2.3, then 10.4.21-rc.1",
    "2024-05-20 and 2024-05-15T15:00:00+01:00",
    "at 2024-05-15 15:00:00 EST",
    "epoch 1716000000, ms 1716000000123, ns 1716000000123456789",
    "192.168.100.200 and 10.0.0.1:8080",
    "fe80::1ff:fe23:4567:890a",
    "MAC 00:1a:2b:3c:4d:5e",
    "path /usr/lib/python3.11/site-packages/x.py:120",
    "C:\\Users\\bob\\AppData\\Local\\Temp",
    "gift_card_5094406 credit_card_4421486 certificate_7504069",
    "reservation ZFA04Y, flight HAT136 on 2024-05-20",
    "order 112-3456789-0123456",
    "Order #555-123-4567 shipped",
    "invoice no. 123-456-7890",
    "id 5551234567",
    "user 1234567890 logged in",
    "amount 12345678.90 EUR, +1,250.00",
    "total $1,234,567.89",
    "ISBN 978-3-16-148410-0",
    "EAN 4006381333931",
    "tracking 1Z999AA10123456784",
    "card ending in 7447",
    "4111 **** **** 1111",
    "number 4111111111111112",
    "16 digits 1234567812345678",
    "0.4111111111111111",
    "UTC+0530 and GMT+1",
    "diff @@ -120,7 +120,9 @@ def f():",
    "x = a+12345678",
    "score +15%",
    "GET /v1/items?limit=100&offset=200 200 OK",
    'etag W/"686897696a7c876b7e"',
    "color #ff00aa, offset 0x7fffdeadbeef",
    "toolu_01A09q90qw90lq917835lq9 call_abc123DEF456ghi789",
    "chatcmpl-9abcDEF123ghiJKL456",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQG\n-----END CERTIFICATE-----",
    "a file starts with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----",
    "bearer of bad news, 2 of them",
    "Basic economy cannot be changed",
    "Cookie: accept all",
    "cookie_consent=true",
    "Set-Cookie header is missing",
    "mkdir -p src/app2 && ssh -p 2222 host",
    "docker run -u 1000:1000 -p 8080:80 img",
    "tar -xzf a1.tgz -C /opt",
    "mysql -u root -p",
    "mysql -u root -p shop",
    "grep -a pattern7 file",
    "The auth module has 3 tests",
    "auth: oauth2",
    "authorization: required",
    "credentials: include",
    "pin 17 is GPIO",
    "one-time purchase 4999",
    "pass: 120, fail: 3",
    "passed 12345 tests",
    "passport: 2 pages",
    "secret santa list v2",
    "The secret to speed is caching.",
    "Keep secrets out of logs.",
    "vault:secret/data/app#password",
    "password: vault:kv/app#pw1",
    "password: !vault |",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "password=%(db_password)s",
    "password: {{ db_password }}",
    "DB_PASSWORD_FILE=/run/secrets/db_password",
    "secretName: app-tls-2024",
    "arn:aws:secretsmanager:eu-west-1:123456789012:secret:app-AbCdEf",
    "arn:aws:iam::123456789012:role/deploy",
    "phone model 15 Pro Max 2023",
    "telephone: 3 lines",
    "mobile: 2024-05-15",
    "\u7535\u8bdd\u4f1a\u8bae 2024-05-15",
    "\u5bc6\u7801\u5fc5\u987b\u5305\u542b8\u4e2a\u5b57\u7b26",
    "DebtInstrumentBasisSpreadOnVariableRate1",
    "mean 3.5555555555555554 std 4.4721359549995796",
    "ids 4532 1488 0343 6467 9999",
    "data:image/png;base64,iVBORw0KGgo=",
)
