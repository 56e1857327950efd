//! Reads and writes files: files of mcpaql, and configurations of other programs (with a backup).
//!
//! What always holds: a file without write permission is not changed. Files are written completely or not at all. A file with another
//! owner or with several hard links keeps them: its new text is written to a temporary file beside it first and then into the file;
//! the temporary file stays if that fails. Devices and pipes are only written to, never read or replaced; standard output and standard
//! error are written through the streams of the process.

use crate::output::{HintedError, error_with_hint};
use anyhow::{Context, Result, bail};
use mcpaql_core::suggest::{self, NameMatcher};
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{ErrorKind, Read, Write, stderr, stdout};
use std::path::{Path, PathBuf};

/// Maximum size of a document; the largest real OpenAPI descriptions have some tens of megabytes.
const MAX_DOCUMENT_BYTES: u64 = 64 << 20;
/// Maximum number of backups of one file.
const MAX_BACKUPS: u32 = 10_000;

/// Reads the text of a file.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    read_text_or_hint(path, "check the path")
}

/// Reads the text of the file that is the value of a flag.
pub(crate) fn read_flag(flag: &str, path: &Path) -> Result<String> {
    read_text_or_hint(path, &format!("check the path of {flag}"))
}

/// Reads the text of a file; `hint` is for a file that does not exist.
fn read_text_or_hint(path: &Path, hint: &str) -> Result<String> {
    utf8(&path.display().to_string(), read_bytes_or_hint(path, hint)?)
}

/// Reads the bytes of a file.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    read_bytes_or_hint(path, "check the path")
}

fn read_bytes_or_hint(path: &Path, hint: &str) -> Result<Vec<u8>> {
    let name = path.display().to_string();
    match File::open(path) {
        Ok(_) if path.is_dir() => Err(error_with_hint(format!("'{name}' is a folder"), folder_hint(path))),
        Ok(file) => read_all(&name, file),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(not_found_error(&name, [], hint)),
        Err(error) => Err(error).with_context(|| format!("cannot read {name}")),
    }
}

/// Returns the error for a file that does not exist, with the most similar name: of a file in the same folder, or of `others`.
pub(crate) fn not_found_error<'n>(
    name: &str,
    others: impl IntoIterator<Item = &'n str>,
    hint: &str,
) -> anyhow::Error {
    let path = Path::new(name);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| {
        let beside =
            folder.map_or_else(|| PathBuf::from(entry.file_name()), |folder| folder.join(entry.file_name()));
        beside.is_file().then(|| beside.display().to_string())
    });
    let files: Vec<String> = files.collect();
    let misspelled = || NameMatcher::new(files.iter().map(String::as_str)).find_misspelled(name);
    let missing_folder = folder.filter(|folder| !folder.exists() && !name.contains("://"));
    let moved = || missing_folder.and_then(|folder| in_similar_folder(folder, path));
    let near = suggest::nearest(name, others).or_else(misspelled).map(str::to_owned).or_else(moved);
    let hint = match (near, missing_folder) {
        (Some(near), _) => format!("did you mean '{near}'?"),
        (None, Some(folder)) => format!("the folder '{}' does not exist", folder.display()),
        (None, None) => hint.to_owned(),
    };
    let message = format!("'{name}' not found");
    anyhow::Error::new(std::io::Error::new(ErrorKind::NotFound, "not found"))
        .context(HintedError { message, hint })
}

/// Returns the path of a file with the same name in a folder with a similar name.
fn in_similar_folder(folder: &Path, path: &Path) -> Option<String> {
    let above = folder.parent()?;
    let root = if above.as_os_str().is_empty() { Path::new(".") } else { above };
    let folders: Vec<String> = std::fs::read_dir(root)
        .ok()?
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .map(|entry| above.join(entry.file_name()).display().to_string())
        .collect();
    let similar = NameMatcher::new(folders.iter().map(String::as_str))
        .find_misspelled(&folder.display().to_string())?;
    let found = Path::new(similar).join(path.file_name()?);
    found.is_file().then(|| found.display().to_string())
}

/// Returns the hint for a folder in place of a file, with a document in it.
fn folder_hint(folder: &Path) -> String {
    let is_document = |path: &PathBuf| {
        path.extension()
            .is_some_and(|extension| ["md", "yaml", "yml", "json"].iter().any(|known| extension == *known))
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let first = entries.map(|entry| entry.path()).filter(|path| path.is_file() && is_document(path)).min();
    first.map_or("pass a file".to_owned(), |file| format!("pass a file, such as {}", file.display()))
}

/// Reads the text of standard input.
pub(crate) fn read_stdin() -> Result<String> {
    let name = "standard input";
    utf8(name, read_all(name, std::io::stdin().lock())?)
}

/// Reads everything up to the maximum size, because a device or a pipe may never end.
fn read_all(name: &str, reader: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader
        .take(MAX_DOCUMENT_BYTES + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read {name}"))?;
    if bytes.len() as u64 > MAX_DOCUMENT_BYTES {
        bail!("{name} is larger than the maximum of {MAX_DOCUMENT_BYTES} bytes");
    }
    Ok(bytes)
}

fn utf8(name: &str, bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        error_with_hint(
            format!("{name} is not UTF-8 text (byte {})", error.utf8_error().valid_up_to()),
            "save it as UTF-8",
        )
    })
}

/// Returns the absolute path, as text.
pub(crate) fn absolute_path(path: &Path) -> Result<String> {
    let absolute =
        std::path::absolute(path).with_context(|| format!("cannot resolve the path {}", path.display()))?;
    let text = absolute.to_str().map(str::to_owned);
    text.with_context(|| format!("the path {} is not UTF-8", absolute.display()))
}

/// A file to edit, with the text that was read.
#[derive(Debug)]
pub(crate) struct EditableFile {
    /// The path as the user wrote it.
    pub(crate) path: PathBuf,
    /// The path after following symbolic links.
    real_path: PathBuf,
    /// `None` if the file does not exist yet.
    pub(crate) text: Option<String>,
}

impl EditableFile {
    pub(crate) fn read(path: &Path) -> Result<EditableFile> {
        if is_stream(path) {
            return Err(error_with_hint(
                format!("{} is a device, a pipe or a socket, not a file", path.display()),
                "pass the path of a file",
            ));
        }
        let Some(real) = resolve_links(path)? else {
            return Ok(EditableFile { path: path.to_owned(), real_path: path.to_owned(), text: None });
        };
        let text = read_text(&real)?;
        Ok(EditableFile { path: path.to_owned(), real_path: real, text: Some(text) })
    }

    /// Writes a backup beside the file, under an unused name. Returns `None` if there is no file.
    pub(crate) fn back_up(&self) -> Result<Option<PathBuf>> {
        let Some(text) = &self.text else { return Ok(None) };
        for number in 1..MAX_BACKUPS {
            let mut name = self.path.as_os_str().to_owned();
            name.push(format!(".bak{number}"));
            let copy = PathBuf::from(name);
            match create(&copy, self.existing_permissions()).and_then(|file| write_and_sync(file, text)) {
                Ok(()) => return Ok(Some(copy)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).with_context(|| format!("cannot write {}", copy.display())),
            }
        }
        bail!("too many backups of {}", self.path.display())
    }

    /// Replaces the text of the file, or leaves the old file. With `has_secrets`, only the user can read a new file.
    pub(crate) fn replace(&self, text: &str, has_secrets: bool) -> Result<()> {
        let permissions =
            self.existing_permissions().or_else(|| private_permissions().filter(|_| has_secrets));
        write_atomically(&self.path, &self.real_path, permissions, text, || {
            // The client may have written its configuration in the meantime.
            if self.has_changed() {
                bail!(
                    "{} was changed by another program in the meantime; run the command again",
                    self.path.display()
                );
            }
            Ok(())
        })
    }

    fn has_changed(&self) -> bool {
        match (std::fs::read(&self.real_path), &self.text) {
            (Ok(now), Some(text)) => now != text.as_bytes(),
            (Ok(_), None) | (Err(_), Some(_)) => true,
            (Err(_), None) => false,
        }
    }

    /// Returns the permissions of the file, for its backup and its replacement.
    fn existing_permissions(&self) -> Option<Permissions> {
        self.text.as_ref().and_then(|_| permissions(&self.real_path))
    }
}

/// Creates a folder for files of this program, with its parents. Only the user can open it.
pub(crate) fn create_private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
        builder.mode(0o700).create(folder)?;
        // An earlier version may have created it for everyone.
        if std::fs::metadata(folder)?.permissions().mode() & 0o077 != 0 {
            std::fs::set_permissions(folder, Permissions::from_mode(0o700))?;
        }
    }
    #[cfg(not(unix))]
    builder.create(folder)?;
    Ok(())
}

/// Creates or empties a file that only the user can read.
pub(crate) fn create_private_file(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    if let Some(permissions) = private_permissions() {
        file.set_permissions(permissions)?;
    }
    Ok(file)
}

/// Returns the permissions of a file that only the user can read.
#[cfg(unix)]
fn private_permissions() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn private_permissions() -> Option<Permissions> {
    None
}

fn permissions(path: &Path) -> Option<Permissions> {
    std::fs::metadata(path).ok().map(|data| data.permissions())
}

/// Paths of streams that are already open. Such a stream may be a file that another program has written to.
const OPEN_STREAM_PATHS: [&str; 4] = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc/self/fd"];

/// Whether an output path is `-`, which means standard output.
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Returns the number of the standard stream that a path names.
fn standard_stream(path: &Path) -> Option<u8> {
    let named = |names: [&str; 3]| names.iter().any(|name| path == Path::new(name));
    if is_dash(path) || named(["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]) {
        return Some(1);
    }
    named(["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"]).then_some(2)
}

/// Whether a path is a device, a pipe or a socket, which can be neither read back nor replaced.
pub(crate) fn is_stream(path: &Path) -> bool {
    if is_dash(path) {
        return true;
    }
    let is_open = OPEN_STREAM_PATHS.iter().any(|open| path.starts_with(open));
    std::fs::metadata(path).is_ok_and(|data| !data.is_dir() && (is_open || !data.is_file()))
}

/// Whether writing to this path would replace a file.
pub(crate) fn would_replace(path: &Path) -> bool {
    let is_missing = std::fs::metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound);
    !is_missing && !is_stream(path)
}

/// Whether both paths are the same file.
pub(crate) fn is_same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => std::path::absolute(a).ok() == std::path::absolute(b).ok(),
    }
}

/// Refuses to overwrite an input file.
pub(crate) fn check_not_input<'p>(path: &Path, inputs: impl IntoIterator<Item = &'p Path>) -> Result<()> {
    // An open stream may be a file, too; a device or a pipe may be both input and output.
    let is_file = !is_dash(path) && (!is_stream(path) || path.is_file());
    if !is_file || !inputs.into_iter().any(|input| input.exists() && is_same_file(input, path)) {
        return Ok(());
    }
    Err(error_with_hint(
        format!("{} is an input file and would be overwritten", path.display()),
        "choose another output file",
    ))
}

/// Refuses to overwrite a file unless `is_ours` accepts its text; `reason` completes the message "FILE already exists and …".
pub(crate) fn check_written_by_us(path: &Path, reason: &str, is_ours: impl Fn(&str) -> bool) -> Result<()> {
    if !would_replace(path) || read_text(path).is_ok_and(|text| is_ours(&text)) {
        return Ok(());
    }
    let message = format!("{} already exists and {reason}", path.display());
    Err(error_with_hint(message, "choose another file, or overwrite it with --force"))
}

/// Follows symbolic links. Returns `None` if the file does not exist yet.
fn resolve_links(path: &Path) -> Result<Option<PathBuf>> {
    match path.canonicalize() {
        Ok(real) => Ok(Some(real)),
        Err(_) if path.symlink_metadata().is_ok_and(|data| data.is_symlink()) => Err(error_with_hint(
            format!("{} is a broken symbolic link", path.display()),
            "fix or remove the link",
        )),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Writes a text to a temporary file, then moves it over the file if `check` succeeds.
fn write_atomically(
    path: &Path,
    real: &Path,
    permissions: Option<Permissions>,
    text: &str,
    check: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let shown = path.display();
    if let Some(folder) = real.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create the folder of {shown}"))?;
    }
    let old = std::fs::metadata(real).ok();
    if old.is_some() {
        // A rename would replace even a read-only file if its folder is writable.
        OpenOptions::new().append(true).open(real).with_context(|| format!("cannot write {shown}"))?;
    }
    let mut temporary = real.as_os_str().to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let written = create(&temporary, permissions).and_then(|file| write_and_sync(file, text));
    let written = written.with_context(|| format!("cannot write {shown}")).and_then(|()| check());
    if written.is_ok() && old.is_some_and(|old| must_keep_inode(&old, &temporary)) {
        let file = OpenOptions::new().write(true).truncate(true).open(real);
        file.and_then(|file| write_and_sync(file, text)).with_context(|| {
            format!("cannot write {shown}; its new content is in {}", temporary.display())
        })?;
        let _ = std::fs::remove_file(&temporary);
        return Ok(());
    }
    let written = written
        .and_then(|()| std::fs::rename(&temporary, real).with_context(|| format!("cannot write {shown}")));
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

/// Whether the file must be written in place: it has several hard links, or another owner than a new file would have.
#[cfg(unix)]
fn must_keep_inode(old: &Metadata, new: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owners = |data: &Metadata| (data.uid(), data.gid());
    old.nlink() > 1 || std::fs::metadata(new).is_ok_and(|new| owners(&new) != owners(old))
}

#[cfg(not(unix))]
fn must_keep_inode(_: &Metadata, _: &Path) -> bool {
    false
}

/// Creates a file, with these permissions if there are any.
fn create(path: &Path, permissions: Option<Permissions>) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if permissions.is_some() {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let file = options.open(path)?;
    if let Some(permissions) = permissions.filter(|_| cfg!(unix)) {
        file.set_permissions(permissions)?;
    }
    Ok(file)
}

fn write_and_sync(mut file: File, text: &str) -> std::io::Result<()> {
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// A file that was written. Its `Display` names the folder that was created for it, because that may be a typing error.
pub(crate) struct WrittenFile<'p> {
    path: &'p Path,
    folder: Option<&'p Path>,
}

impl std::fmt::Display for WrittenFile<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if is_dash(self.path) {
            return f.write_str("standard output");
        }
        write!(f, "{}", self.path.display())?;
        self.folder.map_or(Ok(()), |folder| write!(f, " and created the folder {}", folder.display()))
    }
}

/// Writes a file, replacing an older version, or writes to a device or a pipe.
pub(crate) fn write<'p>(path: &'p Path, text: &str) -> Result<WrittenFile<'p>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    if is_stream(path) {
        write_to_stream(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    } else {
        let real = resolve_links(path)?;
        let permissions = real.as_deref().and_then(permissions);
        write_atomically(path, real.as_deref().unwrap_or(path), permissions, text, || Ok(()))?;
    }
    Ok(WrittenFile { path, folder })
}

/// Writes to a device, a pipe or a standard stream. A closed pipe is not an error.
fn write_to_stream(path: &Path, text: &str) -> std::io::Result<()> {
    let written = match standard_stream(path) {
        // Opening it again would overwrite a redirected file from its start.
        Some(1) => write_and_flush(stdout().lock(), text),
        Some(_) => write_and_flush(stderr().lock(), text),
        None => write_and_flush(OpenOptions::new().append(true).open(path)?, text),
    };
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

fn write_and_flush(mut stream: impl Write, text: &str) -> std::io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, chown};

    #[test]
    fn hard_links_and_another_owner_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let [path, other] = ["a", "b"].map(|name| folder.path().join(name));
        std::fs::write(&path, "a longer text than the new one").unwrap();
        std::fs::hard_link(&path, &other).unwrap();
        write(&path, "new").unwrap();
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "new");
        std::fs::remove_file(&other).unwrap();
        let number = || std::fs::metadata(&path).unwrap().ino();
        let before = number();
        write(&path, "newer").unwrap();
        assert_ne!(number(), before, "a file of our own is replaced");
        // Only root may give a file away.
        if chown(&path, Some(65534), None).is_ok() {
            write(&path, "newest").unwrap();
            assert_eq!(std::fs::metadata(&path).unwrap().uid(), 65534);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn private_files_and_folders_are_only_for_the_user() {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = tempfile::tempdir().unwrap();
        let old = folder.path().join("old");
        std::fs::create_dir(&old).unwrap();
        std::fs::set_permissions(&old, Permissions::from_mode(0o755)).unwrap();
        std::fs::write(old.join("file"), "before").unwrap();
        std::fs::set_permissions(old.join("file"), Permissions::from_mode(0o644)).unwrap();
        for inner in [old, folder.path().join("new/deep")] {
            create_private_folder(&inner).unwrap();
            drop(create_private_file(&inner.join("file")).unwrap());
            assert_eq!((mode(&inner), mode(&inner.join("file"))), (0o700, 0o600), "{}", inner.display());
        }
        assert_eq!(mode(&folder.path().join("new")), 0o700);
    }

    #[test]
    fn a_read_only_file_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "old").unwrap();
        let mut permissions = std::fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(&path, permissions).unwrap();
        // Permissions do not stop root.
        let can_write = OpenOptions::new().append(true).open(&path).is_ok();
        assert_eq!(write(&path, "new").is_ok(), can_write);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), if can_write { "new" } else { "old" });
    }

    #[test]
    fn standard_streams_are_known_by_their_names() {
        for (path, stream) in [
            ("-", Some(1)),
            ("/dev/stdout", Some(1)),
            ("/dev/fd/1", Some(1)),
            ("/proc/self/fd/2", Some(2)),
            ("/dev/stderr", Some(2)),
            ("/dev/fd/8", None),
            ("./-", None),
            ("report.txt", None),
        ] {
            assert_eq!(standard_stream(Path::new(path)), stream, "{path}");
        }
    }
}
