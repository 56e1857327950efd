//! Reading pages: which there are, and their fenced blocks.

use std::path::{Path, PathBuf};

/// The project's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A page and its text.
pub(crate) struct Page {
    /// Relative to the root, with forward slashes.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// One fenced block.
pub(crate) struct Block {
    /// The first word behind the fence.
    pub(crate) language: String,
    /// `file=NAME` behind the language: the block is a file that the page's commands work on.
    pub(crate) file: Option<String>,
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// Every Markdown file of the root and of `docs/`.
pub(crate) fn pages() -> Vec<Page> {
    let root = root();
    let mut paths = Vec::new();
    let mut folders = vec![root.join("docs")];
    let in_root = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path());
    paths.extend(in_root.filter(|path| path.is_file()));
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { paths.push(path) }
        }
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    paths.into_iter().map(|path| read(&root, path)).collect()
}

/// The page of that name.
pub(crate) fn page(name: &str) -> Page {
    let root = root();
    let path = root.join(name);
    read(&root, path)
}

fn read(root: &Path, path: PathBuf) -> Page {
    let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    Page { name, path, text: text.replace("\r\n", "\n") }
}

impl Page {
    /// The fenced blocks, in order.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut open: Option<(String, Block)> = None;
        for (index, line) in self.text.lines().enumerate() {
            let fence: String = line.chars().take_while(|c| *c == '`').collect();
            match &mut open {
                Some((opened, _)) if line.trim_end() == *opened => {
                    blocks.extend(open.take().map(|(_, block)| block));
                }
                Some((_, block)) => {
                    block.text.push_str(line);
                    block.text.push('\n');
                }
                None if fence.len() >= 3 => {
                    let mut info = line.trim_start_matches('`').split_whitespace();
                    let language = info.next().unwrap_or_default().to_owned();
                    let file = info.find_map(|word| word.strip_prefix("file=")).map(str::to_owned);
                    open = Some((fence, Block { language, file, text: String::new(), line: index + 1 }));
                }
                None => {}
            }
        }
        assert!(open.is_none(), "{}: a fence is never closed", self.name);
        blocks
    }

    /// The rows of the table below a heading and before the next, cell by cell, without header and ruler.
    pub(crate) fn table(&self, heading: &str) -> Vec<Vec<String>> {
        let start = format!("{heading}\n");
        let section = self.text.split_once(&start).unwrap_or_else(|| panic!("{}: no {heading}", self.name)).1;
        section
            .lines()
            .take_while(|line| !line.starts_with('#'))
            .filter(|line| line.starts_with('|'))
            .skip(2)
            .map(|line| line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect())
            .collect()
    }
}
