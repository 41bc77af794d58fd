//! The lines of a `.env` file: `NAME=value`, in quotes or not, `export` before it or not.

/// Its variables in the order written; where one stands twice, the later one counts.
pub fn variables(file: &str) -> impl Iterator<Item = (&str, String)> {
    let lines = file.lines().map(str::trim);
    lines.filter(|it| !it.starts_with('#')).filter_map(|line| {
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (key, value) = line.split_once('=')?;
        let value = value.trim();
        let quoted = ['"', '\''].into_iter().find_map(|quote| {
            let rest = value.strip_prefix(quote)?;
            rest.split(quote).next()
        });
        let plain = || value.split(" #").next().unwrap_or_default().trim_end();
        Some((key.trim(), quoted.unwrap_or_else(plain).to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::variables;

    #[test]
    fn variables_stand_in_a_file() {
        let file = "# A=0\nA=1 # one\nexport B=\"two # 2\" # more\nC='3'\nA=4\nD=\nnone\n";
        let found: Vec<_> = variables(file).collect();
        let found: Vec<_> = found
            .iter()
            .map(|(name, it)| (*name, it.as_str()))
            .collect();
        let expected = [
            ("A", "1"),
            ("B", "two # 2"),
            ("C", "3"),
            ("A", "4"),
            ("D", ""),
        ];
        assert_eq!(found, expected);
    }
}
