//! Dumps the catalog of an adapter as data.
#![allow(clippy::all, clippy::pedantic, clippy::restriction)]
use mcpaql_core::catalog::Settings;
use mcpaql_core::check::check;
use mcpaql_core::portable;
use mcpaql_core::source::Source;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args[1] == "lexicon" {
        println!("{}", portable::lexicon());
        return;
    }
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let settings = Settings {
        mode: args.get(2).and_then(|word| mcpaql_core::adapter::Mode::parse(word)),
        ..Settings::default()
    };
    let source = Source::new(args[1].rsplit('/').next().unwrap(), text);
    let checked = check(&source, &settings);
    let Some(catalog) = checked.catalog else {
        for d in checked.diagnostics.iter().take(5) {
            eprintln!("{d:?}");
        }
        std::process::exit(1);
    };
    let start = std::time::Instant::now();
    let value = portable::catalog(&catalog);
    eprintln!("{} operations, {:?}", catalog.operations.len(), start.elapsed());
    for (key, member) in value.as_object().unwrap() {
        let size = member.to_string().len();
        if size > 5000 {
            eprintln!("  {key}: {size}");
        }
    }
    println!("{value}");
}
