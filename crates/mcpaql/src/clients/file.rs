//! Files that are written: a configuration of another program, read once and kept as a copy, or one of our own.
//!
//! What always holds: a file is written whole or not at all. What is no file, such as a device or a pipe, is neither read nor
//! replaced, but written to.

use crate::descriptions;
use crate::output::Hinted;
use anyhow::{Context, Result, bail};
use std::fs::{OpenOptions, Permissions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// More copies than this are nobody's wish.
const MAX_COPIES: u32 = 10_000;

/// A file as it was found.
#[derive(Debug)]
pub(crate) struct File {
    /// As it was named.
    pub(crate) path: PathBuf,
    /// Where links lead.
    real: PathBuf,
    /// `None` where there is no file yet.
    pub(crate) text: Option<String>,
}

impl File {
    pub(crate) fn read(path: &Path) -> Result<File> {
        if is_stream(path) {
            return Err(Hinted {
                message: format!("{} is not a file but a device, a pipe or a socket", path.display()),
                hint: "name the file to change".into(),
            }
            .into());
        }
        let Some(real) = led_to(path)? else {
            return Ok(File { path: path.to_owned(), real: path.to_owned(), text: None });
        };
        let text = descriptions::read_text(&real)?;
        Ok(File { path: path.to_owned(), real, text: Some(text) })
    }

    /// Keeps what the file holds beside it, under a name that was free; nothing where there is no file.
    pub(crate) fn back_up(&self) -> Result<Option<PathBuf>> {
        let Some(text) = &self.text else { return Ok(None) };
        for number in 1..MAX_COPIES {
            let mut name = self.path.as_os_str().to_owned();
            name.push(format!(".bak{number}"));
            let copy = PathBuf::from(name);
            match create(&copy, self.mode()).and_then(|file| fill(file, text)) {
                Ok(()) => return Ok(Some(copy)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).with_context(|| format!("cannot write {}", copy.display())),
            }
        }
        bail!("there are too many backups of {}", self.path.display())
    }

    /// Writes the whole file or leaves the old one.
    pub(crate) fn replace(&self, text: &str) -> Result<()> {
        put(&self.path, &self.real, self.mode(), text, || {
            // Clients write their configurations too.
            if self.changed() {
                bail!("{} was changed meanwhile; run the command again", self.path.display());
            }
            Ok(())
        })
    }

    fn changed(&self) -> bool {
        match (std::fs::read(&self.real), &self.text) {
            (Ok(now), Some(text)) => now != text.as_bytes(),
            (Ok(_), None) | (Err(_), Some(_)) => true,
            (Err(_), None) => false,
        }
    }

    /// The permissions of the file, for those that take its place or its content.
    fn mode(&self) -> Option<Permissions> {
        self.text.as_ref().and_then(|_| permissions(&self.real))
    }
}

fn permissions(path: &Path) -> Option<Permissions> {
    std::fs::metadata(path).ok().map(|data| data.permissions())
}

/// Names of what the process has open already, be it a file: whoever opened it may have written to it.
const OPEN: [&str; 4] = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc/self/fd"];

/// Whether a path leads to a device, a pipe or a socket: there is nothing to read back and nothing to replace.
pub(crate) fn is_stream(path: &Path) -> bool {
    let is_open = OPEN.iter().any(|open| path.starts_with(open));
    std::fs::metadata(path).is_ok_and(|data| !data.is_dir() && (is_open || !data.is_file()))
}

/// Whether something is there that writing would replace.
pub(crate) fn is_there(path: &Path) -> bool {
    let nothing = std::fs::metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound);
    !nothing && !is_stream(path)
}

/// The file behind all links; `None` where there is none yet.
fn led_to(path: &Path) -> Result<Option<PathBuf>> {
    match path.canonicalize() {
        Ok(real) => Ok(Some(real)),
        Err(_) if path.symlink_metadata().is_ok_and(|data| data.is_symlink()) => Err(Hinted {
            message: format!("{} is a link that leads nowhere", path.display()),
            hint: "mend or remove the link".into(),
        }
        .into()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Writes a text beside a file, then puts it in the file's place unless `check` has something against it.
fn put(
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
    let mut beside = real.as_os_str().to_owned();
    beside.push(format!(".{}.tmp", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = create(&beside, permissions).and_then(|file| fill(file, text));
    let written = written.with_context(|| format!("cannot write {shown}")).and_then(|()| {
        check()?;
        std::fs::rename(&beside, real).with_context(|| format!("cannot write {shown}"))
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}

/// A file that was not there before. Nobody may read it who may not read the original.
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

fn fill(mut file: std::fs::File, text: &str) -> std::io::Result<()> {
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// A file of our own that was written; shown with the folder that was made for it, because that may be a slip.
pub(crate) struct Written<'p> {
    path: &'p Path,
    folder: Option<&'p Path>,
}

impl std::fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.path.display())?;
        self.folder.map_or(Ok(()), |folder| write!(f, " and made the folder {}", folder.display()))
    }
}

/// Writes a file of our own, over an older one, or to what is no file.
pub(crate) fn write<'p>(path: &'p Path, text: &str) -> Result<Written<'p>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    if is_stream(path) {
        pour(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    } else {
        let real = led_to(path)?;
        let permissions = real.as_deref().and_then(permissions);
        put(path, real.as_deref().unwrap_or(path), permissions, text, || Ok(()))?;
    }
    Ok(Written { path, folder })
}

/// Writes to what is there. A reader that went away is not an error, just as at standard output.
fn pour(path: &Path, text: &str) -> std::io::Result<()> {
    let mut stream = OpenOptions::new().append(true).open(path)?;
    match stream.write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}
