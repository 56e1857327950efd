//! Reading and writing files: our own, and configurations of other programs, which are kept as a copy.
//!
//! What always holds: a file without write permission is left alone. Our own file is written whole or not at all. A file with another
//! owner or with several names keeps them: its new text is written beside it first and then into it, and stays beside it if that
//! fails half way. A device or a pipe is neither read nor replaced, only written to; standard output and standard error are written
//! through the process's own streams.

use crate::output::error_with_hint;
use anyhow::{Context, Result, bail};
use std::fs::{Metadata, OpenOptions, Permissions};
use std::io::{ErrorKind, Read, Write, stderr, stdout};
use std::path::{Path, PathBuf};

/// Largest document that is read; the largest real descriptions have some tens of megabytes.
const MAX_DOCUMENT_BYTES: u64 = 64 << 20;
/// Maximum number of backups of one file.
const MAX_BACKUPS: u32 = 10_000;

/// The text of a file.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    let name = path.display().to_string();
    let file = std::fs::File::open(path).with_context(|| format!("cannot read {name}"))?;
    read_all(&name, file)
}

/// The text of standard input.
pub(crate) fn read_stdin() -> Result<String> {
    read_all("standard input", std::io::stdin().lock())
}

/// The whole text, within bounds: a device or a pipe may never end.
fn read_all(name: &str, reader: impl Read) -> Result<String> {
    let mut bytes = Vec::new();
    reader
        .take(MAX_DOCUMENT_BYTES + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read {name}"))?;
    if bytes.len() as u64 > MAX_DOCUMENT_BYTES {
        bail!("{name} has more than the {MAX_DOCUMENT_BYTES} bytes that a document may have");
    }
    String::from_utf8(bytes).map_err(|error| {
        error_with_hint(
            format!("{name} is not UTF-8 text (byte {})", error.utf8_error().valid_up_to()),
            "save it as UTF-8",
        )
    })
}

/// A file as it was found.
#[derive(Debug)]
pub(crate) struct EditableFile {
    /// As it was named.
    pub(crate) path: PathBuf,
    /// Where links lead.
    real_path: PathBuf,
    /// `None` where there is no file yet.
    pub(crate) text: Option<String>,
}

impl EditableFile {
    pub(crate) fn read(path: &Path) -> Result<EditableFile> {
        if is_stream(path) {
            return Err(error_with_hint(
                format!("{} is not a file but a device, a pipe or a socket", path.display()),
                "name the file to change",
            ));
        }
        let Some(real) = resolve_links(path)? else {
            return Ok(EditableFile { path: path.to_owned(), real_path: path.to_owned(), text: None });
        };
        let text = read_text(&real)?;
        Ok(EditableFile { path: path.to_owned(), real_path: real, text: Some(text) })
    }

    /// Keeps what the file holds beside it, under a name that was free; nothing where there is no file.
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
        bail!("there are too many backups of {}", self.path.display())
    }

    /// Writes the whole file or leaves the old one.
    pub(crate) fn replace(&self, text: &str) -> Result<()> {
        write_atomically(&self.path, &self.real_path, self.existing_permissions(), text, || {
            // Clients write their configurations too.
            if self.has_changed() {
                bail!("{} was changed meanwhile; run the command again", self.path.display());
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

    /// The permissions of the file, for those that take its place or its content.
    fn existing_permissions(&self) -> Option<Permissions> {
        self.text.as_ref().and_then(|_| permissions(&self.real_path))
    }
}

fn permissions(path: &Path) -> Option<Permissions> {
    std::fs::metadata(path).ok().map(|data| data.permissions())
}

/// Names of what the process has open already. It may be a file that its opener has written to.
const OPEN_STREAM_PATHS: [&str; 4] = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc/self/fd"];

/// Whether a path stands for standard output as such, where a file is to be written.
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The number of the standard stream that a path names.
fn standard_stream(path: &Path) -> Option<u8> {
    let named = |names: [&str; 3]| names.iter().any(|name| path == Path::new(name));
    if is_dash(path) || named(["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]) {
        return Some(1);
    }
    named(["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"]).then_some(2)
}

/// Whether a path leads to a device, a pipe or a socket: there is nothing to read back and nothing to replace.
pub(crate) fn is_stream(path: &Path) -> bool {
    if is_dash(path) {
        return true;
    }
    let is_open = OPEN_STREAM_PATHS.iter().any(|open| path.starts_with(open));
    std::fs::metadata(path).is_ok_and(|data| !data.is_dir() && (is_open || !data.is_file()))
}

/// Whether something is there that writing would replace.
pub(crate) fn would_replace(path: &Path) -> bool {
    let nothing = std::fs::metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound);
    !nothing && !is_stream(path)
}

/// Whether both paths are one file, by links or because the process has it open.
pub(crate) fn is_same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => std::path::absolute(a).ok() == std::path::absolute(b).ok(),
    }
}

/// Refuses to write over one of the files that are read.
pub(crate) fn check_not_input<'p>(path: &Path, read: impl IntoIterator<Item = &'p Path>) -> Result<()> {
    // What is open may be a file as well; a device or a pipe may be read and written.
    let is_file = !is_dash(path) && (!is_stream(path) || path.is_file());
    if !is_file || !read.into_iter().any(|read| read.exists() && is_same_file(read, path)) {
        return Ok(());
    }
    Err(error_with_hint(
        format!("{} would be written over what is read", path.display()),
        "name another file",
    ))
}

/// Refuses to write over a file whose text is not `ours`, which it `is`.
pub(crate) fn check_written_by_us(path: &Path, is: &str, ours: impl Fn(&str) -> bool) -> Result<()> {
    if !would_replace(path) || read_text(path).is_ok_and(|text| ours(&text)) {
        return Ok(());
    }
    let message = format!("{} is there and {is}", path.display());
    Err(error_with_hint(message, "choose another file, or write over it with --force"))
}

/// The file behind all links; `None` where there is none yet.
fn resolve_links(path: &Path) -> Result<Option<PathBuf>> {
    match path.canonicalize() {
        Ok(real) => Ok(Some(real)),
        Err(_) if path.symlink_metadata().is_ok_and(|data| data.is_symlink()) => Err(error_with_hint(
            format!("{} is a link that leads nowhere", path.display()),
            "fix or remove the link",
        )),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Writes a text beside a file, then puts it in the file's place unless `check` has something against it.
fn write_atomically(
    path: &Path,
    real: &Path,
    permissions: Option<Permissions>,
    text: &str,
    check: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let shown = path.display();
    if let Some(folder) = real.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder of {shown}"))?;
    }
    let old = std::fs::metadata(real).ok();
    if old.is_some() {
        // Renaming would succeed for a read-only file in a writable folder.
        OpenOptions::new().append(true).open(real).with_context(|| format!("cannot write {shown}"))?;
    }
    let mut beside = real.as_os_str().to_owned();
    beside.push(format!(".{}.tmp", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = create(&beside, permissions).and_then(|file| write_and_sync(file, text));
    let written = written.with_context(|| format!("cannot write {shown}")).and_then(|()| check());
    if written.is_ok() && old.is_some_and(|old| is_to_stay(&old, &beside)) {
        let file = OpenOptions::new().write(true).truncate(true).open(real);
        file.and_then(|file| write_and_sync(file, text)).with_context(|| {
            format!("cannot write {shown}; what it was to hold is in {}", beside.display())
        })?;
        let _ = std::fs::remove_file(&beside);
        return Ok(());
    }
    let written = written
        .and_then(|()| std::fs::rename(&beside, real).with_context(|| format!("cannot write {shown}")));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}

/// Whether another file in its place would not be the same: it has other names, or not the owner that a new one has.
#[cfg(unix)]
fn is_to_stay(old: &Metadata, new: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owners = |data: &Metadata| (data.uid(), data.gid());
    old.nlink() > 1 || std::fs::metadata(new).is_ok_and(|new| owners(&new) != owners(old))
}

#[cfg(not(unix))]
fn is_to_stay(_: &Metadata, _: &Path) -> bool {
    false
}

/// A new file with the permissions of the original.
fn create(path: &Path, permissions: Option<Permissions>) -> std::io::Result<std::fs::File> {
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

fn write_and_sync(mut file: std::fs::File, text: &str) -> std::io::Result<()> {
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// A file of our own that was written; shown with the folder that was made for it, because that may be a slip.
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
        self.folder.map_or(Ok(()), |folder| write!(f, " and made the folder {}", folder.display()))
    }
}

/// Writes a file of our own, over an older one, or to a device or a pipe.
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

/// Writes to what is there. A reader that went away is not an error, just as at standard output.
fn write_to_stream(path: &Path, text: &str) -> std::io::Result<()> {
    let poured = match standard_stream(path) {
        // Opened again, a file behind it would be written from its beginning.
        Some(1) => write_and_flush(stdout().lock(), text),
        Some(_) => write_and_flush(stderr().lock(), text),
        None => write_and_flush(OpenOptions::new().append(true).open(path)?, text),
    };
    match poured {
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
    fn other_names_and_another_owner_stay() {
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
        assert_ne!(number(), before, "what is ours is replaced as a whole");
        // Only root may give a file away.
        if chown(&path, Some(65534), None).is_ok() {
            write(&path, "newest").unwrap();
            assert_eq!(std::fs::metadata(&path).unwrap().uid(), 65534);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn what_may_not_be_written_to_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "old").unwrap();
        let mut permissions = std::fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(&path, permissions).unwrap();
        // Permissions do not stop root.
        let may = OpenOptions::new().append(true).open(&path).is_ok();
        assert_eq!(write(&path, "new").is_ok(), may);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), if may { "new" } else { "old" });
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
