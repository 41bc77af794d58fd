//! No cycle of files inside any folder of `src/`, and none of the rooms of `src/score/` and `src/scenario_file/`: whoever reads one file
//! finds what it needs below it, never above.
//!
//! Found by the paths that files name, in `use` and elsewhere. What a `mod.rs` hands on from its own files (`pub use`) counts as naming
//! that file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The steps of a path: `["score", "drift"]` is `src/score/drift.rs` or `src/score/drift/mod.rs`.
type Steps = Vec<String>;

#[test]
fn no_files_of_a_folder_import_each_other_in_a_circle() {
    let files = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let circles = circles(&edges(&files));
    assert!(circles.is_empty(), "{}", circles.join("\n"));
}

#[test]
fn no_rooms_import_each_other_in_a_circle() {
    let files = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let room = |it: &Steps| it[..it.len().min(2)].to_vec();
    for house in ["score", "scenario_file"] {
        let mut rooms: BTreeMap<Steps, BTreeSet<Steps>> = BTreeMap::new();
        for (from, to) in edges(&files).into_iter().filter(|it| it.0[0] == house) {
            let to = to.iter().map(room).filter(|it| *it != room(&from));
            rooms.entry(room(&from)).or_default().extend(to);
        }
        assert!(rooms.len() > 5, "{house} has rooms");
        let circles = circles(&rooms);
        assert!(circles.is_empty(), "{}", circles.join("\n"));
    }
}

#[test]
fn circles_are_found() {
    let file = |steps: &[&str], text: &str| {
        let steps: Steps = steps.iter().map(|&it| it.to_owned()).collect();
        (steps, text.to_owned())
    };
    let files: BTreeMap<Steps, String> = [
        file(
            &["a"],
            "mod one;\nmod two;\npub use self::one::{First, Other as Second};",
        ),
        file(
            &["a", "one"],
            "use super::two::{self, Thing};\npub struct First;",
        ),
        file(
            &["a", "two"],
            "// use super::one;\nfn it() -> crate::a::First { super::nothing() }",
        ),
        file(&["b"], "use crate::a::First;\npub(in crate::b) fn it() {}"),
    ]
    .into();
    let found = circles(&edges(&files));
    assert_eq!(found, ["a/one -> a/two\na/two -> a/one"]);
    let without = files.into_iter().map(|(steps, text)| {
        let text = text.replace("crate::a::First", "crate::b::First");
        (steps, text)
    });
    assert!(circles(&edges(&without.collect())).is_empty());
}

#[test]
fn a_folder_that_calls_its_files_may_not_be_called_by_them() {
    let files = |inner: &str| -> BTreeMap<Steps, String> {
        let outer = "mod one;\nstruct Thing;\nfn it() { one::go() }".to_owned();
        let steps = |it: &[&str]| it.iter().map(|&it| it.to_owned()).collect::<Steps>();
        [
            (steps(&["a"]), outer),
            (steps(&["a", "one"]), inner.to_owned()),
        ]
        .into()
    };
    let found = circles(&edges(&files("fn go() -> super::Thing {}")));
    assert_eq!(found, ["a -> a/one\na/one -> a"]);
    assert!(circles(&edges(&files("fn go() {}"))).is_empty());
}

/// Every file but the root of the program's crate. What the file of another crate names in it is named from `src/` here, as if all were one.
fn read(src: &Path) -> BTreeMap<Steps, String> {
    let mut files = BTreeMap::new();
    let mut pending = vec![(src.to_owned(), Steps::new())];
    let has_crate = |room: &str| src.join(room).join("lib.rs").exists();
    while let Some((folder, above)) = pending.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let mut steps = above.clone();
            if path.is_dir() {
                steps.push(name);
                pending.push((path, steps));
            } else if !(above.is_empty() && ["lib", "main"].contains(&name.as_str())) {
                if path.extension().is_none_or(|it| it != "rs") {
                    continue;
                }
                if !["mod", "lib"].contains(&name.as_str()) {
                    steps.push(name);
                }
                let mut text = fs::read_to_string(path).unwrap();
                if has_crate(&steps[0]) {
                    text = text.replace("crate::", &format!("crate::{}::", steps[0]));
                }
                files.insert(steps, text);
            }
        }
    }
    files
}

/// For each file, the files of the same folder of `src/` that it names.
fn edges(files: &BTreeMap<Steps, String>) -> BTreeMap<Steps, BTreeSet<Steps>> {
    let named: BTreeMap<&Steps, Vec<Named>> = files
        .iter()
        .map(|(steps, text)| (steps, paths(&code(text))))
        .collect();
    let handed_on: BTreeMap<&Steps, BTreeMap<&str, Steps>> = (named.iter())
        .map(|(file, named)| {
            let public = named.iter().filter(|it| it.is_public);
            let public = public
                .filter_map(|it| Some((it.known_as.as_str(), absolute(file, &it.path, files)?)));
            (*file, public.collect())
        })
        .collect();
    let target = |mut path: Steps| -> Option<Steps> {
        // Each step follows one `pub use`; no path needs more of them than there are files.
        for _ in 0..files.len() {
            let depth = (1..=path.len())
                .rev()
                .find(|it| files.contains_key(&path[..*it]))?;
            let (file, rest) = (path[..depth].to_vec(), &path[depth..]);
            let handed = rest
                .first()
                .and_then(|it| handed_on[&file].get(it.as_str()));
            let Some(handed) = handed else {
                return Some(file);
            };
            path = handed.iter().chain(&rest[1..]).cloned().collect();
        }
        None
    };
    let mut edges: BTreeMap<Steps, BTreeSet<Steps>> = BTreeMap::new();
    for (file, named) in &named {
        let used = named.iter().filter(|it| !it.is_public);
        let used = used.filter_map(|it| target(absolute(file, &it.path, files)?));
        let near = used.filter(|it| it != *file && it.first() == file.first());
        edges.insert((*file).clone(), near.collect());
    }
    edges
}

/// A path that a file names.
struct Named {
    path: Steps,
    known_as: String,
    is_public: bool,
}

/// Code without comments and without the tests at its end.
fn code(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]\nmod tests").next().unwrap();
    let lines = text
        .lines()
        .map(|it| it.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// The paths in `use` declarations, and those in the code.
fn paths(code: &str) -> Vec<Named> {
    let mut found = Vec::new();
    let mut rest = String::new();
    for statement in code.split_inclusive(';') {
        let declared = statement.rsplit('\n').find_map(|_| {
            let at = statement.rfind("use ")?;
            let before = statement[..at]
                .rsplit(['\n', '}'])
                .next()
                .unwrap_or_default()
                .trim();
            (before.is_empty() || before.starts_with("pub")).then_some((at, before))
        });
        match declared {
            Some((at, before)) => {
                rest.push_str(&statement[..at]);
                let tree: String = statement[at + 4..]
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" ");
                for (path, known_as) in leaves(tree.trim_end_matches(';')) {
                    found.push(Named {
                        path,
                        known_as,
                        is_public: before.starts_with("pub"),
                    });
                }
            }
            None => rest.push_str(statement),
        }
    }
    let is_word = |it: char| it.is_alphanumeric() || it == '_' || it == ':';
    for word in rest
        .replace("pub(in crate", "pub(in ")
        .split(|it| !is_word(it))
    {
        let path: Steps = word.split("::").map(str::to_owned).collect();
        if path.len() > 1 {
            found.push(Named {
                known_as: path[path.len() - 1].clone(),
                path,
                is_public: false,
            });
        }
    }
    found
}

/// The paths of a `use` tree, each with the name it is known by.
fn leaves(tree: &str) -> Vec<(Steps, String)> {
    let tree = tree.trim();
    let Some((stem, inner)) = tree.split_once('{') else {
        let (path, known_as) = tree.split_once(" as ").unwrap_or((tree, ""));
        let path: Steps = path.split("::").map(|it| it.trim().to_owned()).collect();
        let last = path[path.len() - 1].clone();
        let known_as = if known_as.is_empty() {
            last
        } else {
            known_as.to_owned()
        };
        return vec![(path, known_as)];
    };
    let inner = inner.rsplit_once('}').map_or(inner, |it| it.0);
    let stem: Steps = stem
        .trim_end_matches("::")
        .split("::")
        .map(|it| it.trim().to_owned())
        .collect();
    let (mut depth, mut from, mut parts) = (0, 0, Vec::new());
    for (at, it) in inner.char_indices() {
        match it {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inner[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[from..]);
    let parts = parts.into_iter().filter(|it| !it.trim().is_empty());
    let paths = parts.flat_map(leaves).map(|(path, known_as)| {
        let own = path.first().is_some_and(|it| it == "self");
        let path = path.into_iter().filter(|it| it != "self");
        let path: Steps = stem.iter().cloned().chain(path).collect();
        let known_as = if own {
            path[path.len() - 1].clone()
        } else {
            known_as
        };
        (path, known_as)
    });
    paths.collect()
}

/// Where a path leads from the crate's root; `None` where it leads to another crate.
fn absolute(file: &Steps, path: &Steps, files: &BTreeMap<Steps, String>) -> Option<Steps> {
    let supers = path.iter().take_while(|it| *it == "super").count();
    let (base, rest) = match path[0].as_str() {
        "crate" => (&file[..0], &path[1..]),
        "self" => (&file[..], &path[1..]),
        "super" => (&file[..file.len().checked_sub(supers)?], &path[supers..]),
        own => {
            let below: Steps = file.iter().cloned().chain([own.to_owned()]).collect();
            files
                .contains_key(&below)
                .then_some((&file[..], &path[..]))?
        }
    };
    Some(base.iter().chain(rest).cloned().collect())
}

/// Files that reach themselves, with the imports that make the circle: one text for each circle.
fn circles(edges: &BTreeMap<Steps, BTreeSet<Steps>>) -> Vec<String> {
    let reached = |from: &Steps| {
        let mut reached: BTreeSet<&Steps> = BTreeSet::new();
        let mut pending: Vec<&Steps> = edges[from].iter().collect();
        while let Some(next) = pending.pop() {
            if reached.insert(next) {
                pending.extend(edges.get(next).into_iter().flatten());
            }
        }
        reached
    };
    let reach: BTreeMap<&Steps, BTreeSet<&Steps>> =
        edges.keys().map(|it| (it, reached(it))).collect();
    let mut reported: BTreeSet<&Steps> = BTreeSet::new();
    let mut circles = Vec::new();
    for file in edges.keys().filter(|it| reach[it].contains(it)) {
        let members: BTreeSet<&Steps> = (reach[file].iter().copied())
            .filter(|it| reach[it].contains(file))
            .collect();
        if !reported.insert(file) || members.iter().any(|it| *it < file) {
            continue;
        }
        let lines = members.iter().flat_map(|from| {
            let to = edges[*from].iter().filter(|it| members.contains(it));
            to.map(|to| format!("{} -> {}", from.join("/"), to.join("/")))
        });
        circles.push(lines.collect::<Vec<_>>().join("\n"));
    }
    circles
}
