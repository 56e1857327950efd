//! Arguments of `mcpaql serve`.

use super::{ImportOptions, SurfaceArgs, flag_words};
use crate::file::absolute_path;
use crate::openapi_files::is_url;
use anyhow::Result;
use clap::Args as ClapArgs;
use clap::builder::UnknownArgumentValueParser;
use mcpaql_runtime::caller::CallerName;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Without documents, serves mcpaql.yaml in this folder; without that file, the built-in notebook.\n\
    Exit status: 0 stopped, 1 the documents have errors, 2 could not run."
)]
pub(crate) struct ServeArgs {
    /// Adapter documents (Markdown with front matter, YAML or JSON), OpenAPI descriptions (files or URLs), URLs of MCP servers that
    /// end in `/mcp`, or names of built-in adapters.
    #[arg(value_name = "DOCUMENT")]
    pub(crate) documents: Vec<String>,
    /// OpenAPI description to serve directly, as a file or URL; can be repeated.
    #[arg(long, value_name = "SOURCE", conflicts_with = "config")]
    pub(crate) openapi: Vec<String>,
    /// URL of an MCP server to serve, which speaks streamable HTTP; can be repeated.
    #[arg(long, value_name = "URL", conflicts_with = "config", value_parser = parse_server_url)]
    pub(crate) mcp: Vec<String>,
    #[command(flatten)]
    pub(crate) import_options: ImportOptions,
    /// Configuration file, or an MCP client's own configuration with its servers, as JSON or as Codex's TOML [default: mcpaql.yaml].
    #[arg(long, value_name = "FILE", conflicts_with = "documents")]
    pub(crate) config: Option<PathBuf>,
    /// Serve over streamable HTTP instead of stdio, on a loopback port (8080) or an address with a port (0.0.0.0:8080).
    #[arg(long, value_name = "ADDRESS", value_parser = parse_http_address)]
    pub(crate) http: Option<SocketAddr>,
    /// Does not exist; the error suggests `--http`.
    #[arg(long = "port", hide = true, value_parser = UnknownArgumentValueParser::suggest_arg("--http"))]
    _port: Option<String>,
    /// Folder for stored records and executions [default: the data folder of the user, such as ~/.local/share/mcpaql].
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Serve only operations that read: all others are hidden and refused.
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Do not read or write the tool cache.
    #[arg(long)]
    pub(crate) no_cache: bool,
    /// Do not watch files for changes; SIGHUP still reloads them.
    #[arg(long)]
    pub(crate) no_watch: bool,
    /// Environment variable with a bearer token that HTTP clients may send, optionally with a name for its callers (alice=ALICE_TOKEN); can
    /// be repeated. Without one, HTTP clients need no token.
    #[arg(long, value_name = "[NAME=]VARIABLE", requires = "http", value_parser = parse_token_variable)]
    pub(crate) token_env: Vec<TokenVariable>,
    /// Certificate for TLS in PEM format, followed by the ones that signed it. It is read again when it changes.
    #[arg(long, value_name = "FILE", requires = "http", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key of the certificate, in PEM format.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Host name that HTTP clients may use in addition to loopback names; can be repeated.
    #[arg(long, value_name = "HOST", requires = "http")]
    pub(crate) allow_host: Vec<String>,
    /// Origin that browsers may call from in addition to loopback origins; can be repeated.
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub(crate) allow_origin: Vec<String>,
    /// Listen on a non-loopback address without authentication: everyone who can reach it can call every operation.
    #[arg(long, requires = "http")]
    pub(crate) allow_remote_without_authentication: bool,
    /// Maximum number of open HTTP connections [default: 1024].
    #[arg(long, value_name = "NUMBER", requires = "http", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_connections: Option<u32>,
    /// Maximum number of open HTTP connections from one address; raise it if all clients come through one proxy [default: 256].
    #[arg(long, value_name = "NUMBER", requires = "http", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_connections_per_address: Option<u32>,
    /// Maximum number of wrong tokens from one address in a minute, before its requests get status 429; 0 for no limit, if all clients come
    /// through one proxy [default: 20].
    #[arg(long, value_name = "NUMBER", requires = "http")]
    pub(crate) max_failed_logins: Option<u32>,
    #[command(flatten)]
    pub(crate) surface: SurfaceArgs,
}

/// The environment variable of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TokenVariable {
    /// The name of the callers with this token.
    pub(crate) name: Option<String>,
    pub(crate) variable: String,
}

fn parse_token_variable(text: &str) -> Result<TokenVariable, String> {
    let (name, variable) = match text.split_once('=') {
        Some((name, variable)) => (Some(name), variable),
        None => (None, text),
    };
    if variable.is_empty() {
        return Err(
            "expected the name of an environment variable, such as MCPAQL_TOKEN or alice=ALICE_TOKEN"
                .to_owned(),
        );
    }
    if name.is_some_and(|name| CallerName::new(name).is_none()) {
        return Err("expected a name of 1 to 64 letters, digits, '_', '.' or '-' before '='".to_owned());
    }
    Ok(TokenVariable { name: name.map(str::to_owned), variable: variable.to_owned() })
}

impl ServeArgs {
    /// Returns the words of a command line that serves the same from any folder, over stdio: paths are absolute, and `unnamed` names the
    /// adapters if no argument does.
    pub(crate) fn words(&self, unnamed: impl FnOnce() -> Result<Vec<String>>) -> Result<Vec<String>> {
        let ServeArgs {
            documents,
            openapi,
            mcp,
            import_options,
            config,
            data,
            read_only,
            no_cache,
            no_watch,
            surface,
            ..
        } = self;
        let mut words = vec!["serve".to_owned()];
        for document in documents {
            let is_path = Path::new(document).exists();
            words.push(if is_path { absolute_path(Path::new(document))? } else { document.clone() });
        }
        let openapi: Result<Vec<String>> = openapi
            .iter()
            .map(|source| if is_url(source) { Ok(source.clone()) } else { absolute_path(Path::new(source)) })
            .collect();
        words.extend(flag_words("--openapi", &openapi?));
        words.extend(flag_words("--mcp", mcp));
        let config = config.as_deref().map(absolute_path).transpose()?;
        words.extend(flag_words("--config", &config));
        if words.len() == 1 {
            words.extend(unnamed()?);
        }
        words.extend(import_options.words()?);
        let data = data.as_deref().map(absolute_path).transpose()?;
        words.extend(flag_words("--data", &data));
        words.extend(read_only.then(|| "--read-only".to_owned()));
        words.extend(no_cache.then(|| "--no-cache".to_owned()));
        words.extend(no_watch.then(|| "--no-watch".to_owned()));
        words.extend(surface.words());
        Ok(words)
    }
}

/// Parses the value of `--http`: an address with a port, or only a port, which means loopback. Names other than `localhost` are
/// not looked up.
fn parse_server_url(text: &str) -> Result<String, String> {
    // A reference to a variable may contain the whole address.
    if is_url(text) || text.contains("${") {
        return Ok(text.to_owned());
    }
    Err("expected a URL, such as https://example.com/mcp; for a server that is a program, use `mcpaql init --kind mcp`".to_owned())
}

fn parse_http_address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost").unwrap_or(text);
    let port = port.strip_prefix(':').or_else(|| (port == text).then_some(port));
    let on_loopback = port.and_then(|port| port.parse().ok()).map(|port| (Ipv4Addr::LOCALHOST, port).into());
    on_loopback.or_else(|| text.parse().ok()).ok_or_else(|| {
        let expected =
            "expected a port, localhost or an IP address with a port, such as 8080 or 127.0.0.1:8080";
        let is_number = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        if text.contains("://") {
            format!("it is a URL; {expected}")
        } else if text.rsplit(':').next().is_some_and(|port| is_number(port) && port.parse::<u16>().is_err())
        {
            format!("the port is larger than 65535; {expected}")
        } else {
            expected.to_owned()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    #[test]
    fn a_bare_port_means_loopback() {
        for (text, address) in [
            ("8080", "127.0.0.1:8080"),
            (":8080", "127.0.0.1:8080"),
            ("localhost:8080", "127.0.0.1:8080"),
            ("0", "127.0.0.1:0"),
            ("0.0.0.0:8080", "0.0.0.0:8080"),
            ("[::1]:8080", "[::1]:8080"),
        ] {
            assert_eq!(parse_http_address(text), Ok(address.parse().unwrap()), "{text}");
        }
        for wrong in [
            "",
            ":",
            "localhost",
            "localhost8080",
            "127.0.0.1",
            "example.com:8080",
            "99999",
            "http://localhost:8080",
        ] {
            let error = parse_http_address(wrong).unwrap_err();
            assert!(error.contains("such as 8080 or 127.0.0.1:8080"), "{wrong}: {error}");
            assert_eq!(error.contains("larger than 65535"), wrong == "99999", "{wrong}: {error}");
            assert_eq!(error.contains("it is a URL"), wrong.contains("://"), "{wrong}: {error}");
        }
    }

    #[test]
    fn a_server_is_named_by_its_url() {
        for (text, is_valid) in
            [("https://a.b/mcp", true), ("${env:SERVER}/mcp", true), ("foo", false), ("", false)]
        {
            let parsed = Cli::try_parse_from(["mcpaql", "serve", "--mcp", text]);
            assert_eq!(parsed.is_ok(), is_valid, "{text}");
        }
    }

    #[test]
    fn the_words_serve_the_same_from_any_folder() {
        let words = |line: &str| {
            let Command::Serve(args) = Cli::try_parse_from(line.split(' ')).unwrap().command else {
                panic!()
            };
            args.words(|| Ok(vec!["builtin:notebook".into()])).unwrap()
        };
        assert_eq!(words("mcpaql serve"), ["serve", "builtin:notebook"]);
        assert_eq!(
            words("mcpaql serve notebook --http 8080 --no-watch"),
            ["serve", "notebook", "--no-watch"]
        );
        let line = "mcpaql serve Cargo.toml --openapi https://x/api --openapi a.yaml --mcp https://x/mcp --name=-n --include tag:a --mode unified-single --prefix p_ --data d";
        let words = words(line);
        let path = |name: &str| std::path::absolute(name).unwrap().display().to_string();
        let (manifest, api, data) = (path("Cargo.toml"), path("a.yaml"), path("d"));
        let expected = [
            "serve",
            &manifest,
            "--openapi",
            "https://x/api",
            "--openapi",
            &api,
            "--mcp",
            "https://x/mcp",
            "--name=-n",
            "--include",
            "tag:a",
            "--data",
            &data,
            "--mode",
            "unified-single",
            "--prefix",
            "p_",
        ];
        assert_eq!(words, expected);
        let again = Cli::try_parse_from(std::iter::once("mcpaql").chain(words.iter().map(String::as_str)));
        assert!(again.is_ok(), "{again:?}");
    }
}
