//! Prints what use.go and use.mjs print.

use fovea::{Array, Heard, Kind, Model, Search, Values};

fn main() {
    let library = std::env::args().nth(1).unwrap();
    let mut model = Model::open(&library, None, 1).unwrap();
    println!("inputs {}", model.inputs().join(" "));
    println!("about {}", model.about().contains("\"model\":\"rnnsearch\""));

    let lines = ["ein Haus", "Baum Baum ein", "ein nie"];
    let search = Search { beam: 3, max_length: 6, ..Default::default() };
    for example in model.text(&lines, &search, None).unwrap() {
        println!("{:.6}\t{}", example[0].logp, example[0].text);
    }

    let search = Search { beam: 1, max_length: 6, min_length: 4, ..Default::default() };
    let mut symbols = Vec::new();
    let mut hear = |heard: Heard<'_>| {
        symbols.push(heard.symbol.unwrap().to_string());
        true
    };
    let result = model.text(&lines[..1], &search, Some(&mut hear)).unwrap();
    symbols.retain(|symbol| symbol != "</s>");
    println!("heard all {}", symbols.join(" ") == result[0][0].text);
    let mut count = 0;
    let mut two = |_: Heard<'_>| {
        count += 1;
        count < 2
    };
    model.text(&lines[..1], &search, Some(&mut two)).unwrap();
    println!("ended after {count}");
    let canceller = model.canceller();
    let mut cancels = |_: Heard<'_>| {
        canceller.cancel();
        true
    };
    let error = model.text(&lines[..1], &search, Some(&mut cancels)).unwrap_err();
    println!("{}: {error}", error.kind == Kind::Cancelled);
    let mut throws = |_: Heard<'_>| -> bool { std::panic::panic_any("thrown") };
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        model.text(&lines[..1], &search, Some(&mut throws))
    }));
    println!("{}", caught.unwrap_err().downcast_ref::<&str>().unwrap());

    let (src, tgt, lengths) = ([3, 4, 1, 3, 5, 1], [3, 4, 1, 3, 6, 1], [3, 3]);
    let array = |name, shape, values| Array { name, shape, values: Values::I64(values) };
    let batch = [
        array("src", &[2, 3], &src),
        array("src.length", &[2], &lengths),
        array("tgt", &[2, 3], &tgt),
        array("tgt.length", &[2], &lengths),
    ];
    let (_, logp) = model.loss(&batch).unwrap();
    println!("log p {:.6} {:.6}", logp[0], logp[1]);
    let values = model.run(&batch, &["align"]).unwrap();
    let align = &values[0][1];
    println!("align {:?} {:.6}", align.shape, align.values[..3].iter().sum::<f64>());
    println!("decoded {}", model.decode(&batch[..2], 0, &search, None).unwrap().len());

    println!("{}", model.loss(&batch[..2]).unwrap_err());
    println!("{}", model.loss(&[array("src", &[2, 2], &src)]).unwrap_err());
    println!("{}", model.text(&["a\0b"], &search, None).unwrap_err());
    println!("{}", model.run(&batch, &["nothing"]).unwrap_err());
    let prefixes = vec!["a".to_string(); 2];
    println!("{}", model.text(&lines, &Search { prefixes, ..search }, None).unwrap_err());
    println!("{}", Model::open("nowhere.so", None, 0).err().unwrap());
}
