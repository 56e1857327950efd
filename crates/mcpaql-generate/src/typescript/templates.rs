//! The files of `templates/typescript`, in one table.

/// What every project shares, by its path.
pub(super) const SHARED: &[(&str, &str)] = &[
    ("src/runtime/auth.ts", include_str!("../../templates/typescript/src/runtime/auth.ts")),
    ("src/runtime/catalog.ts", include_str!("../../templates/typescript/src/runtime/catalog.ts")),
    ("src/runtime/command/argv.ts", include_str!("../../templates/typescript/src/runtime/command/argv.ts")),
    (
        "src/runtime/command/binding.ts",
        include_str!("../../templates/typescript/src/runtime/command/binding.ts"),
    ),
    ("src/runtime/command/fault.ts", include_str!("../../templates/typescript/src/runtime/command/fault.ts")),
    (
        "src/runtime/command/output.ts",
        include_str!("../../templates/typescript/src/runtime/command/output.ts"),
    ),
    (
        "src/runtime/command/process.ts",
        include_str!("../../templates/typescript/src/runtime/command/process.ts"),
    ),
    (
        "src/runtime/command/runner.ts",
        include_str!("../../templates/typescript/src/runtime/command/runner.ts"),
    ),
    ("src/runtime/complaint.ts", include_str!("../../templates/typescript/src/runtime/complaint.ts")),
    ("src/runtime/discovery.ts", include_str!("../../templates/typescript/src/runtime/discovery.ts")),
    ("src/runtime/environment.ts", include_str!("../../templates/typescript/src/runtime/environment.ts")),
    ("src/runtime/errors.ts", include_str!("../../templates/typescript/src/runtime/errors.ts")),
    ("src/runtime/http/address.ts", include_str!("../../templates/typescript/src/runtime/http/address.ts")),
    ("src/runtime/http/base64.ts", include_str!("../../templates/typescript/src/runtime/http/base64.ts")),
    ("src/runtime/http/binding.ts", include_str!("../../templates/typescript/src/runtime/http/binding.ts")),
    ("src/runtime/http/body.ts", include_str!("../../templates/typescript/src/runtime/http/body.ts")),
    ("src/runtime/http/client.ts", include_str!("../../templates/typescript/src/runtime/http/client.ts")),
    (
        "src/runtime/http/connection.ts",
        include_str!("../../templates/typescript/src/runtime/http/connection.ts"),
    ),
    ("src/runtime/http/failure.ts", include_str!("../../templates/typescript/src/runtime/http/failure.ts")),
    ("src/runtime/http/headers.ts", include_str!("../../templates/typescript/src/runtime/http/headers.ts")),
    (
        "src/runtime/http/multipart.ts",
        include_str!("../../templates/typescript/src/runtime/http/multipart.ts"),
    ),
    ("src/runtime/http/proxy.ts", include_str!("../../templates/typescript/src/runtime/http/proxy.ts")),
    ("src/runtime/http/redirect.ts", include_str!("../../templates/typescript/src/runtime/http/redirect.ts")),
    ("src/runtime/http/request.ts", include_str!("../../templates/typescript/src/runtime/http/request.ts")),
    ("src/runtime/http/response.ts", include_str!("../../templates/typescript/src/runtime/http/response.ts")),
    ("src/runtime/http/retry.ts", include_str!("../../templates/typescript/src/runtime/http/retry.ts")),
    ("src/runtime/http/style.ts", include_str!("../../templates/typescript/src/runtime/http/style.ts")),
    ("src/runtime/introspect.ts", include_str!("../../templates/typescript/src/runtime/introspect.ts")),
    (
        "src/runtime/introspect/ask.ts",
        include_str!("../../templates/typescript/src/runtime/introspect/ask.ts"),
    ),
    (
        "src/runtime/introspect/hits.ts",
        include_str!("../../templates/typescript/src/runtime/introspect/hits.ts"),
    ),
    (
        "src/runtime/introspect/list.ts",
        include_str!("../../templates/typescript/src/runtime/introspect/list.ts"),
    ),
    (
        "src/runtime/introspect/page.ts",
        include_str!("../../templates/typescript/src/runtime/introspect/page.ts"),
    ),
    (
        "src/runtime/introspect/types.ts",
        include_str!("../../templates/typescript/src/runtime/introspect/types.ts"),
    ),
    ("src/runtime/json.ts", include_str!("../../templates/typescript/src/runtime/json.ts")),
    ("src/runtime/lines.ts", include_str!("../../templates/typescript/src/runtime/lines.ts")),
    ("src/runtime/log.ts", include_str!("../../templates/typescript/src/runtime/log.ts")),
    ("src/runtime/measure.ts", include_str!("../../templates/typescript/src/runtime/measure.ts")),
    ("src/runtime/naming.ts", include_str!("../../templates/typescript/src/runtime/naming.ts")),
    ("src/runtime/oauth.ts", include_str!("../../templates/typescript/src/runtime/oauth.ts")),
    ("src/runtime/pipeline.ts", include_str!("../../templates/typescript/src/runtime/pipeline.ts")),
    ("src/runtime/progress.ts", include_str!("../../templates/typescript/src/runtime/progress.ts")),
    ("src/runtime/request.ts", include_str!("../../templates/typescript/src/runtime/request.ts")),
    ("src/runtime/response.ts", include_str!("../../templates/typescript/src/runtime/response.ts")),
    ("src/runtime/schema/check.ts", include_str!("../../templates/typescript/src/runtime/schema/check.ts")),
    ("src/runtime/schema/format.ts", include_str!("../../templates/typescript/src/runtime/schema/format.ts")),
    (
        "src/runtime/schema/pattern.ts",
        include_str!("../../templates/typescript/src/runtime/schema/pattern.ts"),
    ),
    ("src/runtime/schema/types.ts", include_str!("../../templates/typescript/src/runtime/schema/types.ts")),
    (
        "src/runtime/schema/violation.ts",
        include_str!("../../templates/typescript/src/runtime/schema/violation.ts"),
    ),
    ("src/runtime/search/chain.ts", include_str!("../../templates/typescript/src/runtime/search/chain.ts")),
    (
        "src/runtime/search/grammar.ts",
        include_str!("../../templates/typescript/src/runtime/search/grammar.ts"),
    ),
    ("src/runtime/search/index.ts", include_str!("../../templates/typescript/src/runtime/search/index.ts")),
    ("src/runtime/search/intent.ts", include_str!("../../templates/typescript/src/runtime/search/intent.ts")),
    ("src/runtime/search/query.ts", include_str!("../../templates/typescript/src/runtime/search/query.ts")),
    ("src/runtime/search/rank.ts", include_str!("../../templates/typescript/src/runtime/search/rank.ts")),
    ("src/runtime/search/stem.ts", include_str!("../../templates/typescript/src/runtime/search/stem.ts")),
    (
        "src/runtime/search/vocabulary.ts",
        include_str!("../../templates/typescript/src/runtime/search/vocabulary.ts"),
    ),
    ("src/runtime/search/words.ts", include_str!("../../templates/typescript/src/runtime/search/words.ts")),
    ("src/runtime/secrets.ts", include_str!("../../templates/typescript/src/runtime/secrets.ts")),
    ("src/runtime/server.ts", include_str!("../../templates/typescript/src/runtime/server.ts")),
    ("src/runtime/stdio.ts", include_str!("../../templates/typescript/src/runtime/stdio.ts")),
    ("src/runtime/store/binding.ts", include_str!("../../templates/typescript/src/runtime/store/binding.ts")),
    ("src/runtime/store/change.ts", include_str!("../../templates/typescript/src/runtime/store/change.ts")),
    ("src/runtime/store/file.ts", include_str!("../../templates/typescript/src/runtime/store/file.ts")),
    ("src/runtime/store/record.ts", include_str!("../../templates/typescript/src/runtime/store/record.ts")),
    ("src/runtime/store/store.ts", include_str!("../../templates/typescript/src/runtime/store/store.ts")),
    ("src/runtime/suggest.ts", include_str!("../../templates/typescript/src/runtime/suggest.ts")),
    ("src/runtime/surfaces.ts", include_str!("../../templates/typescript/src/runtime/surfaces.ts")),
    ("src/runtime/targets.ts", include_str!("../../templates/typescript/src/runtime/targets.ts")),
    ("src/runtime/text.ts", include_str!("../../templates/typescript/src/runtime/text.ts")),
    ("src/runtime/tokens.ts", include_str!("../../templates/typescript/src/runtime/tokens.ts")),
    ("src/runtime/validate.ts", include_str!("../../templates/typescript/src/runtime/validate.ts")),
    ("src/runtime/values.ts", include_str!("../../templates/typescript/src/runtime/values.ts")),
    ("tests/catalog.test.ts", include_str!("../../templates/typescript/tests/catalog.test.ts")),
    ("tests/runtime.test.ts", include_str!("../../templates/typescript/tests/runtime.test.ts")),
    ("tests/server.test.ts", include_str!("../../templates/typescript/tests/server.test.ts")),
    ("tests/targets.test.ts", include_str!("../../templates/typescript/tests/targets.test.ts")),
    ("tests/tsconfig.json", include_str!("../../templates/typescript/tests/tsconfig.json")),
];

pub(super) const PACKAGE: &str = include_str!("../../templates/typescript/package.json");
pub(super) const TSCONFIG: &str = include_str!("../../templates/typescript/tsconfig.json");
pub(super) const ESLINT: &str = include_str!("../../templates/typescript/eslint.config.js");
pub(super) const GITIGNORE: &str = include_str!("../../templates/typescript/.gitignore");
pub(super) const INDEX: &str = include_str!("../../templates/typescript/src/index.ts");
pub(super) const HANDLERS: &str = include_str!("../../templates/typescript/src/handlers.ts");
