"""Ordinary passages that look a little like what detectors find: (name, the passage).

Those of the rules stand beside them, in capability_rules/validation/security/rules/*.toml.
"""

from __future__ import annotations

import base64
import hashlib
import uuid

PICTURE = base64.b64encode(bytes(range(256)) * 40).decode()

MARKUP = [
    ("html-comment", "<!-- keep this table in step with tools.json -->"),
    ("html-todo", "<!-- TODO: ask design for a new icon -->"),
    ("hidden-attribute", "The button has the attribute `hidden` until the form is valid."),
    ("css-fence", '```html\n<div style="display:none" id="menu">Menu entries go here</div>\n```'),
]

SHAPES = [
    ("persian", "می‌خواهم وزن را ثبت کنم و نمی‌دانم کدام واحد است."),
    ("hindi", "क्‍ष और र्‍य सही लिखें।"),
    ("malayalam", "അവന്‍ വന്നു."),
    ("thai", "ภาษา\u200bไทย\u200bไม่\u200bมี\u200bช่อง\u200bว่าง"),
    ("hebrew", "שלום \u2067API\u2069 עולם"),
    ("arabic", "السعر \u200f100$ فقط"),
    ("family", "Family 👨‍👩‍👧‍👦, pilot 👩🏽‍✈️, flag 🏳️‍🌈, heart ❤️, key 1️⃣"),
    ("flags", "🏴󠁧󠁢󠁳󠁣󠁴󠁿 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇩🇪"),
    ("ideograph", "葛\U000e0100城 and 辻\U000e0101"),
    ("greek-maths", "Let αx + βy = γ; Δt is in µs and λmax in nm."),
    ("russian-mixed", "Проверь URL-адрес и API-ключ, затем вызови list_entries."),
    ("data-image", f"![logo](data:image/png;base64,{PICTURE[:600]})"),
    ("long-base64", f"Fixture: {PICTURE}"),
    ("digest", f"sha256:{hashlib.sha256(b'x').hexdigest()}"),
    ("uuid", f"The id is {uuid.UUID(int=12345)}."),
    ("integrity", 'integrity="sha512-' + base64.b64encode(hashlib.sha512(b"x").digest()).decode() + '"'),
    ("aws-example", "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7" + "EXAMPLE"),
    ("openai-placeholder", "export OPENAI_API_KEY=sk-..."),
    ("openai-words", "OPENAI_API_KEY=sk-your-key-here-replace-me-with-yours-now"),
    ("github-placeholder", "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
    ("password-var", "password = os.environ['DB_PASSWORD']"),
    ("password-words", 'password: "correct horse"'),
    ("db-local", "postgres://postgres:postgres@localhost:5432/app"),
    ("db-example", "postgresql://user:password@host:5432/db"),
    ("percent-url", "https://example.org/search?q=caf%C3%A9%20menu%20list"),
    ("entities", "Use &lt;system&gt; only in prose, and &#8212; for a dash."),
    ("versions", "Versions 1.0.3, 10.0.17763 and 2024-05-01."),
    ("spaced-heading", "A B C D E F G H I J K L M"),
    (
        "comment-in-code",
        "Fill in `<!-- PATHS:`, one per line. You must ignore hidden files, and never delete the second block.",
    ),
    ("secret-placeholder", "Note it: `vault notes set <SECRET> TEXT`. Do not mention a key or password in the note."),
    ("code-digits", "Use utf8mb4, x86_64, base64, sha256 and i18n."),
]

INACTIVE = [
    ("script-fence", "```html\n<script>alert(1)</script>\n<img src=x onerror=alert(1)>\n```"),
    ("script-fence-in-list", "1. Try:\n\n    ```html\n    <script>alert(1)</script>\n    ```"),
    ("script-indented", "An example:\n\n    <script>alert(1)</script>"),
    ("script-span", "Never write `<script>alert(1)</script>` or `<img src=x onerror=alert(1)>` into a page."),
    ("script-span-longer", "Such as `` `<script>alert(1)</script>` `` in a template."),
    ("script-comment", "<!-- <script>alert(1)</script> -->"),
    (
        "script-word",
        "XSS means that a <script> tag or an onerror= attribute of somebody else runs in your page.",
    ),
    ("script-escaped", "Write &lt;script&gt;alert(1)&lt;/script&gt; as text."),
    ("iframe-word", "Put the map into an <iframe> of the page."),
    ("link-span", "A link such as `[x](javascript:alert(1))` is refused."),
    (
        "link-word",
        "Links that begin with javascript: are refused; see [how](https://example.org/javascript:links).",
    ),
    (
        "plain-html",
        '<details><summary>More</summary>Text with <kbd>Ctrl</kbd>, <br/> and <a href="/x">a link</a>.</details>',
    ),
    ("picture", '<img src="assets/logo.png" alt="on=off" width=20>'),
    ("component", "<Button onClick={save}>Save</Button> is a component."),
    ("comparison", "If a<b and on = 3, load=4."),
    ("data-picture", "![dot](data:image/gif;base64,R0lGODlhAQABAAAAACw=)"),
]

ALL = [*MARKUP, *SHAPES, *INACTIVE]
