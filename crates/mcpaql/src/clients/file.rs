//! A configuration file of another program: read once, written whole or not at all, with a copy of what was.

use crate::descriptions;
use crate::output::Hinted;
use anyhow::{Context, Result, bail};
use std::io::Write;
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
        let link = path.symlink_metadata().is_ok_and(|data| data.is_symlink());
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(_) if link => {
                return Err(Hinted {
                    message: format!("{} is a link that leads nowhere", path.display()),
                    hint: "mend or remove the link".into(),
                }
                .into());
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(File { path: path.to_owned(), real: path.to_owned(), text: None });
            }
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
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
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).with_context(|| format!("cannot write {}", copy.display())),
            }
        }
        bail!("there are too many backups of {}", self.path.display())
    }

    /// Writes the whole file or leaves the old one.
    pub(crate) fn replace(&self, text: &str) -> Result<()> {
        let shown = self.path.display();
        if let Some(folder) = self.real.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder of {shown}"))?;
        }
        let mut beside = self.real.as_os_str().to_owned();
        beside.push(format!(".{}.tmp", std::process::id()));
        let beside = PathBuf::from(beside);
        let written = create(&beside, self.mode()).and_then(|file| fill(file, text));
        let written = written.with_context(|| format!("cannot write {shown}")).and_then(|()| {
            // Clients write their configurations too.
            if self.changed() {
                bail!("{shown} was changed meanwhile; run the command again");
            }
            std::fs::rename(&beside, &self.real).with_context(|| format!("cannot write {shown}"))
        });
        if written.is_err() {
            let _ = std::fs::remove_file(&beside);
        }
        written
    }

    fn changed(&self) -> bool {
        match (std::fs::read(&self.real), &self.text) {
            (Ok(now), Some(text)) => now != text.as_bytes(),
            (Ok(_), None) | (Err(_), Some(_)) => true,
            (Err(_), None) => false,
        }
    }

    /// The permissions of the file, for those that take its place or its content.
    fn mode(&self) -> Option<std::fs::Permissions> {
        self.text.as_ref().and_then(|_| std::fs::metadata(&self.real).ok()).map(|data| data.permissions())
    }
}

/// A file that was not there before. Nobody may read it who may not read the original.
fn create(path: &Path, permissions: Option<std::fs::Permissions>) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
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

/// Writes a file of our own, over an older one.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    File::read(path)?.replace(text)
}
