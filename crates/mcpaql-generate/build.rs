//! Lists the runtime files in `templates/`, so that a new file there becomes part of every project.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let templates = folder("CARGO_MANIFEST_DIR")?.join("templates");
    let typescript = table("TYPESCRIPT", &templates.join("typescript"), &["src/runtime", "tests"], "ts")?;
    let python = table("PYTHON", &templates.join("python"), &["src/adapter_template/runtime"], "py")?;
    fs::write(folder("OUT_DIR")?.join("templates.rs"), typescript + &python)
}

fn folder(variable: &str) -> io::Result<PathBuf> {
    env::var_os(variable).map(PathBuf::from).ok_or_else(|| io::Error::other(variable.to_owned()))
}

/// Returns a constant with the path and the text of every file in these folders that has this extension.
fn table(name: &str, root: &Path, folders: &[&str], ending: &str) -> io::Result<String> {
    let mut found = Vec::new();
    for folder in folders {
        let folder = root.join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        collect(&folder, ending, &mut found)?;
    }
    found.sort_unstable();
    let mut out = format!("pub(crate) const {name}: &[(&str, &str)] = &[\n");
    for path in found {
        let place = path.strip_prefix(root).map_err(io::Error::other)?;
        let place = place.to_string_lossy().replace('\\', "/");
        let _ = writeln!(out, "    ({place:?}, include_str!({path:?})),");
    }
    out.push_str("];\n");
    Ok(out)
}

fn collect(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            collect(&path, ending, found)?;
        } else if path.extension().is_some_and(|kind| kind == ending) {
            found.push(path);
        }
    }
    Ok(())
}
