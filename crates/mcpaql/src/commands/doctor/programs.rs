//! Finds programs as the system would start them.

use mcpaql_core::adapter::TargetConfig;
use mcpaql_core::catalog::Catalog;
use mcpaql_core::operation::{Arg, Binding, Segment};
use mcpaql_core::template::EnvTemplate;
use mcpaql_runtime::environment::Environment;
use std::path::{Path, PathBuf};

/// Returns the programs of an adapter's operations, each with the folder in which it is started.
pub(super) fn programs(catalog: &Catalog, environment: &Environment) -> Vec<(String, Option<PathBuf>)> {
    let TargetConfig::Command(target) = &catalog.adapter.target else { return Vec::new() };
    let folder = target.cwd.as_deref().and_then(EnvTemplate::parse);
    let folder = folder.and_then(|text| text.fill(|name| environment(name)).ok()).map(PathBuf::from);
    let mut found: Vec<String> = Vec::new();
    for entry in &catalog.operations {
        if let Binding::Command(binding) = &entry.operation.binding
            && let Some(Arg::Template(pieces)) = binding.argv.first()
            && let [Segment::Literal(program)] = pieces.as_slice()
            && !found.contains(program)
        {
            found.push(program.clone());
        }
    }
    found.into_iter().map(|program| (program, folder.clone())).collect()
}

/// Returns the file that the system starts for this program, or `None` if there is none that this user may run.
pub(super) fn find_program(program: &str, folder: Option<&Path>, path: Option<&str>) -> Option<PathBuf> {
    if program.contains('/') || (cfg!(windows) && program.contains('\\')) {
        let file = folder.map_or_else(|| PathBuf::from(program), |folder| folder.join(program));
        return executable(file);
    }
    std::env::split_paths(path?).find_map(|folder| executable(folder.join(program)))
}

#[cfg(unix)]
fn executable(file: PathBuf) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let data = std::fs::metadata(&file).ok()?;
    (data.is_file() && data.permissions().mode() & 0o111 != 0).then_some(file)
}

#[cfg(not(unix))]
fn executable(file: PathBuf) -> Option<PathBuf> {
    let with_extension = file.with_extension("exe");
    [file, with_extension].into_iter().find(|file| file.is_file())
}
