//! Decides whether the value of an environment variable is a credential. Programs get other values, too, such as paths and
//! regions, and their answers would be useless without them.

/// Words in the names of variables that hold credentials.
const CREDENTIAL_WORDS: [&str; 18] = [
    "TOKEN",
    "KEY",
    "APIKEY",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "PASS",
    "PWD",
    "AUTH",
    "CREDENTIAL",
    "CREDENTIALS",
    "PAT",
    "BEARER",
    "JWT",
    "COOKIE",
    "DSN",
    "PIN",
];
/// Longer texts are not plain words.
const MAX_PLAIN_LENGTH: usize = 40;

/// Returns whether the value of a variable is a credential, so that no answer may show it: by its name, or because it is
/// nothing that is commonly passed in the open, such as a path, an address or a region.
pub(crate) fn is_credential(name: &str, value: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let is_named =
        name.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| CREDENTIAL_WORDS.contains(&word));
    let ends = ["TOKEN", "SECRET", "PASSWORD", "APIKEY"].iter().any(|word| name.ends_with(word));
    is_named || ends || !is_plain(value)
}

/// Whether a value is nothing that has to be kept secret: a path, an address without credentials, plain words.
fn is_plain(value: &str) -> bool {
    if value.starts_with(['/', '~', '.'])
        || value.get(1..3).is_some_and(|drive| matches!(drive, ":\\" | ":/"))
    {
        return true;
    }
    if let Some((_, rest)) = value.split_once("://") {
        // Anything else in an address may be a credential.
        return !rest.contains(['@', '?', '#']) && rest.split('/').skip(1).all(is_words);
    }
    value.len() <= MAX_PLAIN_LENGTH && value.split(':').all(is_words)
}

/// Whether a text consists of words such as `eu-west-1`, `api.example.com` or `v2`.
fn is_words(text: &str) -> bool {
    text.split(['-', '_', '.', ' ', ',']).all(|word| {
        let is_name = word.len() <= 15 && word.chars().all(char::is_alphabetic);
        let is_number = word.len() <= 5 && word.bytes().all(|byte| byte.is_ascii_digit());
        is_name || is_number || (word.len() <= 4 && word.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_known_by_name_or_by_their_value() {
        for (name, value) in [
            ("GITHUB_TOKEN", "plain"),
            ("DB_PASSWORD", "hunter"),
            ("githubtoken", "x"),
            ("MY_PIN", "987654"),
            ("DATABASE_URL", "postgres://me:word@db/x"),
            ("HOOK", "https://hooks.example/services/T0A9B8C7D/xyz"),
            ("VALUE", "ghp_0a9b8c7d6e5f"),
            ("ID", "550e8400-e29b-41d4-a716-446655440000"),
            ("Q", "https://x.example/?k=v"),
        ] {
            assert!(is_credential(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("REGION", "eu-west-1"),
            ("ROOT", "/srv/files"),
            ("LEVEL", "debug"),
            ("HOST", "api.example.com:8080"),
            ("URL", "https://api.example.com/v2/things"),
            ("HERE", "./x"),
            ("N", "4096"),
            ("WINDOWS", "C:\\x"),
        ] {
            assert!(!is_credential(name, value), "{name}={value}");
        }
    }
}
