//! The licence of a project, chosen by its author: parses the SPDX expression and writes `LICENSE`.
//!
//! ```
//! use mcpaql_generate::license;
//!
//! assert_eq!(license::parse("mit OR apache-2.0").unwrap(), "MIT OR Apache-2.0");
//! let error = license::parse("Apache-3.0").unwrap_err();
//! assert_eq!(error.message, "'Apache-3.0' is not in the SPDX list of licences");
//! ```
//!
//! What always holds: an accepted expression consists of identifiers of the SPDX list, in their official spelling, or of
//! `LicenseRef-` names. Tools compare identifiers exactly, so another spelling would be another licence.

use crate::Project;
use mcpaql_core::suggest;
use spdx::identifiers::{EXCEPTIONS, LICENSES};

/// The default licence of a project.
pub const DEFAULT: &str = "Apache-2.0";

/// No licence: all rights reserved.
pub const NONE: &str = "UNLICENSED";

/// The included licence texts, by SPDX identifier.
const TEXTS: &[(&[&str], &str)] = &[
    (&["0BSD"], include_str!("../templates/licenses/0BSD.txt")),
    (&["AGPL-3.0-only", "AGPL-3.0-or-later"], include_str!("../templates/licenses/AGPL-3.0.txt")),
    (&["Apache-2.0"], include_str!("../templates/licenses/Apache-2.0.txt")),
    (&["BSD-2-Clause"], include_str!("../templates/licenses/BSD-2-Clause.txt")),
    (&["BSD-3-Clause"], include_str!("../templates/licenses/BSD-3-Clause.txt")),
    (&["CC0-1.0"], include_str!("../templates/licenses/CC0-1.0.txt")),
    (&["GPL-2.0-only", "GPL-2.0-or-later"], include_str!("../templates/licenses/GPL-2.0.txt")),
    (&["GPL-3.0-only", "GPL-3.0-or-later"], include_str!("../templates/licenses/GPL-3.0.txt")),
    (&["ISC"], include_str!("../templates/licenses/ISC.txt")),
    (&["LGPL-2.1-only", "LGPL-2.1-or-later"], include_str!("../templates/licenses/LGPL-2.1.txt")),
    (&["LGPL-3.0-only", "LGPL-3.0-or-later"], LGPL_TEXT),
    (&["MIT"], include_str!("../templates/licenses/MIT.txt")),
    (&["MPL-2.0"], include_str!("../templates/licenses/MPL-2.0.txt")),
    (&["Unlicense"], include_str!("../templates/licenses/Unlicense.txt")),
];

/// The LGPL adds permissions to the GPL, so both texts are needed.
const LGPL_TEXT: &str = concat!(
    include_str!("../templates/licenses/LGPL-3.0.txt"),
    "\n",
    include_str!("../templates/licenses/GPL-3.0.txt")
);

/// The placeholder for the copyright holders in the texts.
const HOLDERS: &str = "__COPYRIGHT_HOLDERS__";

/// The error for an invalid licence expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidLicense {
    /// The problem, as a fragment.
    pub message: String,
    /// What to write instead.
    pub suggestion: String,
}

/// Parses a licence and returns it in canonical spelling.
///
/// # Errors
/// Returns an error if the text is not an SPDX expression.
pub fn parse(text: &str) -> Result<String, InvalidLicense> {
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    if let [word] = words.as_slice()
        && word.eq_ignore_ascii_case(NONE)
    {
        return Ok(NONE.to_owned());
    }
    let mut words = words.into_iter().peekable();
    let mut out = String::new();
    let is_whole = expression(&mut words, &mut out, 0) && words.next().is_none();
    if is_whole {
        let unlisted = identifiers(&out).find(|name| !is_listed(name)).map(unlisted_error);
        return unlisted.map_or(Ok(out), Err);
    }
    Err(InvalidLicense {
        message: format!("'{text}' is not an SPDX licence expression"),
        suggestion:
            "write an identifier such as MIT or GPL-3.0-or-later, several with OR or AND between them, \
            LicenseRef-NAME for one of your own, or UNLICENSED"
                .to_owned(),
    })
}

/// Returns whether an identifier is in the SPDX list, or is a name of the author's own.
fn is_listed(name: &str) -> bool {
    let is_own = ["LicenseRef-", "DocumentRef-"].iter().any(|prefix| name.starts_with(prefix));
    let name = name.strip_suffix('+').unwrap_or(name);
    is_own
        || LICENSES.iter().any(|license| license.name == name)
        || EXCEPTIONS.iter().any(|exception| exception.name == name)
}

fn unlisted_error(name: &str) -> InvalidLicense {
    let near = suggest::nearest(name, LICENSES.iter().map(|license| license.name));
    let near = near.map(|near| format!("did you mean {near}? ")).unwrap_or_default();
    InvalidLicense {
        message: format!("'{name}' is not in the SPDX list of licences"),
        suggestion: format!(
            "{near}see https://spdx.org/licenses, or write LicenseRef-{name} for a licence of your own"
        ),
    }
}

/// Maximum depth of parentheses.
const MAX_DEPTH: usize = 16;

/// Reads `term (AND|OR term)*`.
fn expression<'a>(
    words: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
    out: &mut String,
    depth: usize,
) -> bool {
    loop {
        let is_term = match words.next() {
            Some("(") if depth < MAX_DEPTH => {
                out.push('(');
                let inner = expression(words, out, depth + 1) && words.next() == Some(")");
                out.push(')');
                inner
            }
            Some(word) if is_identifier(word) => {
                out.push_str(&canonical_identifier(word));
                match words.next_if_eq(&"WITH") {
                    None => true,
                    Some(_) => {
                        words.next().filter(|exception| is_identifier(exception)).is_some_and(|exception| {
                            out.push_str(" WITH ");
                            out.push_str(&canonical_identifier(exception));
                            true
                        })
                    }
                }
            }
            _ => false,
        };
        let joint = words.next_if(|word| matches!(*word, "AND" | "OR"));
        match joint {
            Some(joint) if is_term => {
                out.push(' ');
                out.push_str(joint);
                out.push(' ');
            }
            _ => return is_term && joint.is_none(),
        }
    }
}

fn is_identifier(word: &str) -> bool {
    let body = word.strip_suffix('+').unwrap_or(word);
    !matches!(word, "AND" | "OR" | "WITH")
        && body.len() <= 100
        && body.starts_with(|first: char| first.is_ascii_alphanumeric())
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b':'))
}

/// Returns an identifier in its official spelling, because tools compare it exactly. Old identifiers are replaced by the
/// current ones.
fn canonical_identifier(word: &str) -> String {
    let older = |word: &str| match word.to_ascii_uppercase().as_str() {
        "GPL-2.0" => Some("GPL-2.0-only"),
        "GPL-2.0+" => Some("GPL-2.0-or-later"),
        "GPL-3.0" => Some("GPL-3.0-only"),
        "GPL-3.0+" => Some("GPL-3.0-or-later"),
        "LGPL-2.1" => Some("LGPL-2.1-only"),
        "LGPL-2.1+" => Some("LGPL-2.1-or-later"),
        "LGPL-3.0" => Some("LGPL-3.0-only"),
        "LGPL-3.0+" => Some("LGPL-3.0-or-later"),
        "AGPL-3.0" => Some("AGPL-3.0-only"),
        "AGPL-3.0+" => Some("AGPL-3.0-or-later"),
        _ => None,
    };
    let (name, plus) = word.strip_suffix('+').map_or((word, ""), |name| (name, "+"));
    let listed = || {
        let license = LICENSES.iter().map(|license| license.name);
        license
            .chain(EXCEPTIONS.iter().map(|exception| exception.name))
            .find(|other| other.eq_ignore_ascii_case(name))
    };
    older(word)
        .map(str::to_owned)
        .or_else(|| Some(format!("{}{plus}", listed()?)))
        .unwrap_or_else(|| word.to_owned())
}

/// Returns whether a manifest can name the licence: `UNLICENSED` is not an SPDX expression.
#[must_use]
pub fn is_expression(license: &str) -> bool {
    license != NONE
}

/// Returns a warning if the text of a licence is not included.
#[must_use]
pub fn warning(license: &str) -> Option<String> {
    let missing: Vec<&str> =
        identifiers(license).filter(|name| *name != NONE && full_text(name).is_none()).collect();
    (!missing.is_empty()).then(|| {
        format!(
            "LICENSE does not contain the text of {}; add it before you publish the project",
            missing.join(", ")
        )
    })
}

fn identifiers(license: &str) -> impl Iterator<Item = &str> {
    license.split([' ', '(', ')']).filter(|word| !word.is_empty() && !matches!(*word, "AND" | "OR" | "WITH"))
}

fn full_text(name: &str) -> Option<&'static str> {
    TEXTS.iter().find(|(names, _)| names.contains(&name)).map(|(_, text)| *text)
}

/// Returns the text of `LICENSE`.
pub(crate) fn text(project: &Project<'_>) -> String {
    let license = project.options.license.as_str();
    let default = || format!("the authors of {}", project.catalog.adapter.name);
    let holders = project.options.copyright.clone().unwrap_or_else(default);
    let holders = holders.split_whitespace().collect::<Vec<_>>().join(" ");
    if license == NONE {
        return format!("Copyright (c) {holders}. All rights reserved.\n");
    }
    let mut texts: Vec<&str> = Vec::new();
    for text in identifiers(license).filter_map(full_text) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    let text = match texts.as_slice() {
        [alone] if full_text(license).is_some() => (*alone).to_owned(),
        texts => {
            let named = format!("Copyright (c) {HOLDERS}\n\nSPDX-License-Identifier: {license}\n");
            let rule = format!("\n{}\n\n", "-".repeat(78));
            std::iter::once(named.as_str()).chain(texts.iter().copied()).collect::<Vec<_>>().join(&rule)
        }
    };
    text.replace(HOLDERS, &holders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_written_in_their_official_spelling() {
        for (text, read) in [
            ("mit", "MIT"),
            ("apache-2.0", "Apache-2.0"),
            ("MIT OR Apache-2.0", "MIT OR Apache-2.0"),
            ("(MIT OR Apache-2.0)AND ISC", "(MIT OR Apache-2.0) AND ISC"),
            ("GPL-3.0+", "GPL-3.0-or-later"),
            ("GPL-2.0-only WITH Classpath-exception-2.0", "GPL-2.0-only WITH Classpath-exception-2.0"),
            ("unlicensed", "UNLICENSED"),
            ("LicenseRef-Acme.1", "LicenseRef-Acme.1"),
            ("EUPL-1.2", "EUPL-1.2"),
            ("eupl-1.2", "EUPL-1.2"),
            ("MPL-1.1+", "MPL-1.1+"),
            ("gpl-3.0-only WITH gcc-exception-3.1", "GPL-3.0-only WITH GCC-exception-3.1"),
        ] {
            assert_eq!(parse(text).as_deref(), Ok(read), "{text}");
        }
    }

    #[test]
    fn invalid_expressions_are_rejected() {
        let deep = "(".repeat(100);
        for text in [
            "",
            " ",
            "MIT OR",
            "OR MIT",
            "MIT Apache-2.0",
            "(MIT",
            "MIT)",
            "MIT WITH",
            "MIT WITH WITH",
            "A/B",
            "\"MIT\"",
            "MIT\\",
            "-x",
            "MIT and ISC",
            "UNLICENSED?",
            &deep,
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn licences_outside_the_list_are_rejected() {
        for (text, name, hint) in [
            ("banana", "banana", "LicenseRef-banana"),
            ("MIT OR Apache-3.0", "Apache-3.0", "did you mean Apache-"),
            ("MIT WITH banana", "banana", "LicenseRef-banana"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.message, format!("'{name}' is not in the SPDX list of licences"));
            assert!(error.suggestion.contains(hint), "{}", error.suggestion);
        }
    }

    #[test]
    fn every_text_is_complete() {
        for (names, text) in TEXTS {
            assert!(text.len() > 500 && text.ends_with('\n'), "{names:?}");
            for name in *names {
                assert_eq!(parse(name).as_deref(), Ok(*name));
                assert_eq!(warning(name), None);
            }
        }
    }

    #[test]
    fn a_missing_text_gives_a_warning() {
        assert!(warning("EUPL-1.2 OR MIT").is_some_and(|text| text.contains("the text of EUPL-1.2")));
        assert!(warning("LicenseRef-Acme").is_some());
        assert_eq!(warning(NONE), None);
    }
}
