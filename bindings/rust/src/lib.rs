//! Runs models that `fovea compile --emit so` has made: a thin layer over
//! `fovea.h`, without dependencies. Results have the bits of `fovea`.
//!
//! ```no_run
//! let mut model = fovea::Model::open("./libtranslate.so", None, 0)?;
//! for examples in model.text(&["ein Haus"], &fovea::Search::default(), None)? {
//!     println!("{}", examples[0].text);
//! }
//! # Ok::<(), fovea::Error>(())
//! ```

mod ffi;

use std::ffi::{CStr, CString};
use std::fmt;
use std::os::raw::{c_char, c_double, c_int, c_void};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr;
use std::sync::Arc;

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A batch, a line or weights are wrong.
    BadInput,
    /// The model has no such entry, or a text has a NUL.
    BadCall,
    /// Memory, the disk, or a library that cannot be loaded.
    BadMachine,
    /// Another thread uses the model.
    Busy,
    /// By [`Canceller::cancel`].
    Cancelled,
}

/// A failed call, with one sentence about it.
#[derive(Clone, Debug)]
pub struct Error {
    pub kind: Kind,
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

type Result<T> = std::result::Result<T, Error>;

/// How to generate. Zeros stand for what the spec says, or for nothing.
#[derive(Clone, Debug, Default)]
pub struct Search {
    pub beam: i64,
    pub nbest: i64,
    pub max_length: i64,
    pub min_length: i64,
    /// Draws instead of searching, `nbest` times.
    pub sample: bool,
    pub seed: i64,
    pub top_k: i64,
    pub temperature: f64,
    pub top_p: f64,
    /// Empty, or a line for each example that its output begins with.
    pub prefixes: Vec<String>,
}

/// The values of an array, of which the examples are the first axis.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
    I64(&'a [i64]),
    U8(&'a [u8]),
}

impl Values<'_> {
    /// The type in fovea.h, where the values are, and their number.
    fn parts(&self) -> (i64, *const c_void, usize) {
        match self {
            Values::F32(all) => (0, all.as_ptr().cast(), all.len()),
            Values::F64(all) => (1, all.as_ptr().cast(), all.len()),
            Values::I64(all) => (2, all.as_ptr().cast(), all.len()),
            Values::U8(all) => (3, all.as_ptr().cast(), all.len()),
        }
    }
}

/// An array of a batch: `src` padded at the end, `src.length` as `I64`.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a> {
    pub name: &'a str,
    pub shape: &'a [i64],
    pub values: Values<'a>,
}

/// A generated value, as soon as there is one.
#[derive(Clone, Copy, Debug)]
pub struct Heard<'a> {
    pub example: i64,
    pub name: &'a str,
    pub value: f64,
    pub symbol: Option<&'a str>,
}

/// Hears each value; `false` ends the search of this example.
pub type Listener<'a> = &'a mut dyn FnMut(Heard<'_>) -> bool;

/// One hypothesis of an example.
#[derive(Clone, Debug, PartialEq)]
pub struct Hypothesis {
    pub text: String,
    pub logp: f64,
    /// What ranks it.
    pub score: f64,
}

/// The value of an equation in one example.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    pub shape: Vec<i64>,
    pub values: Vec<f64>,
}

/// Closes the model with its last user.
struct Handle(*mut ffi::Model);

// The runtime refuses calls of a second thread with a code, and cancels from any.
unsafe impl Send for Handle {}
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        unsafe { ffi::fovea_model_close(self.0) }
    }
}

/// An open model. One call runs at a time.
pub struct Model(Arc<Handle>);

/// Ends the decoding of a model, from any thread.
#[derive(Clone)]
pub struct Canceller(Arc<Handle>);

impl Canceller {
    /// The decoding that is running ends after its step, with
    /// [`Kind::Cancelled`].
    pub fn cancel(&self) {
        unsafe { ffi::fovea_model_cancel(self.0 .0) }
    }
}

/// What the last call of this thread says.
fn failure(code: c_int) -> Error {
    let kind = match code {
        1 => Kind::BadInput,
        3 => Kind::BadMachine,
        4 => Kind::Busy,
        5 => Kind::Cancelled,
        _ => Kind::BadCall,
    };
    Error { kind, message: text(unsafe { ffi::fovea_message() }) }
}

fn checked(code: c_int) -> Result<()> {
    if code == ffi::DONE {
        Ok(())
    } else {
        Err(failure(code))
    }
}

fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error {
        kind: Kind::BadCall,
        message: format!("'{}' has a NUL", text.replace('\0', "\\0")),
    })
}

fn c_texts<S: AsRef<str>>(texts: &[S]) -> Result<Vec<CString>> {
    texts.iter().map(|text| c_text(text.as_ref())).collect()
}

/// The arrays of a batch as fovea.h has them; they borrow from the caller's.
struct OwnBatch {
    _names: Vec<CString>,
    arrays: Vec<ffi::Array>,
    examples: i64,
}

impl OwnBatch {
    fn new(arrays: &[Array<'_>]) -> Result<OwnBatch> {
        let names = c_texts(&arrays.iter().map(|array| array.name).collect::<Vec<_>>())?;
        let mut all = Vec::new();
        for (array, name) in arrays.iter().zip(&names) {
            let (kind, values, count) = array.values.parts();
            let product = array.shape.iter().try_fold(1i64, |all, &extent| {
                if extent < 0 { None } else { all.checked_mul(extent) }
            });
            if product != i64::try_from(count).ok() {
                let message =
                    format!("'{}' has {count} values, but its shape is {:?}", array.name, array.shape);
                return Err(Error { kind: Kind::BadInput, message });
            }
            let rank = array.shape.len() as i64;
            all.push(ffi::Array { name: name.as_ptr(), kind, rank, shape: array.shape.as_ptr(), values });
        }
        let examples = arrays.first().and_then(|array| array.shape.first()).copied().unwrap_or(0);
        Ok(OwnBatch { _names: names, arrays: all, examples })
    }

    /// `examples`: how many, for a model without inputs.
    fn get(&self, examples: i64) -> ffi::Batch {
        ffi::Batch { examples, count: self.arrays.len() as i64, arrays: self.arrays.as_ptr() }
    }
}

/// A listener and what it has thrown.
struct Hearing<'a> {
    listener: Listener<'a>,
    panic: Option<Box<dyn std::any::Any + Send>>,
}

extern "C" fn hear(
    user: *mut c_void,
    example: i64,
    name: *const c_char,
    value: c_double,
    symbol: *const c_char,
) -> c_int {
    let hearing = unsafe { &mut *user.cast::<Hearing<'_>>() };
    if hearing.panic.is_some() {
        return 0;
    }
    let name = text(name);
    let symbol = (!symbol.is_null()).then(|| text(symbol));
    let heard = Heard { example, name: &name, value, symbol: symbol.as_deref() };
    // A panic may not cross C: it goes on after the call.
    match catch_unwind(AssertUnwindSafe(|| (hearing.listener)(heard))) {
        Ok(goes_on) => c_int::from(goes_on),
        Err(panic) => {
            hearing.panic = Some(panic);
            0
        }
    }
}

impl Model {
    /// Opens the library of a model. Without `weights` those inside are used.
    /// `threads` 0: one for each CPU.
    pub fn open(library: &str, weights: Option<&str>, threads: i32) -> Result<Model> {
        let library = c_text(library)?;
        let weights = weights.map(c_text).transpose()?;
        let place = weights.as_ref().map_or(ptr::null(), |path| path.as_ptr());
        let mut model = ptr::null_mut();
        checked(unsafe { ffi::fovea_model_open(library.as_ptr(), place, threads, &mut model) })?;
        Ok(Model(Arc::new(Handle(model))))
    }

    fn raw(&self) -> *mut ffi::Model {
        self.0 .0
    }

    /// What the model has, as JSON (fovea.h).
    pub fn about(&self) -> String {
        text(unsafe { ffi::fovea_model_about(self.raw()) })
    }

    /// The names of its data, in the order of the spec.
    pub fn inputs(&self) -> Vec<String> {
        let count = unsafe { ffi::fovea_model_inputs(self.raw()) };
        (0..count).map(|i| text(unsafe { ffi::fovea_model_input(self.raw(), i) })).collect()
    }

    /// For other threads, or for a listener.
    pub fn canceller(&self) -> Canceller {
        Canceller(self.0.clone())
    }

    /// Generates from lines of text: the hypotheses of each, best first. A
    /// listener needs a beam of 1, or samples.
    pub fn text<S: AsRef<str>>(
        &mut self,
        lines: &[S],
        search: &Search,
        listener: Option<Listener<'_>>,
    ) -> Result<Vec<Vec<Hypothesis>>> {
        let lines = c_texts(lines)?;
        let places: Vec<_> = lines.iter().map(|line| line.as_ptr()).collect();
        let count = lines.len() as i64;
        let model = self.raw();
        self.generate(count, search, listener, |search, hear, user, result| unsafe {
            ffi::fovea_model_text(model, count, places.as_ptr(), search, hear, user, result)
        })
    }

    /// The same from a batch. `examples` counts, for a model without inputs.
    pub fn decode(
        &mut self,
        batch: &[Array<'_>],
        examples: i64,
        search: &Search,
        listener: Option<Listener<'_>>,
    ) -> Result<Vec<Vec<Hypothesis>>> {
        let own = OwnBatch::new(batch)?;
        let c_batch = own.get(examples);
        let model = self.raw();
        let count = if batch.is_empty() { examples } else { own.examples };
        self.generate(count, search, listener, |search, hear, user, result| unsafe {
            ffi::fovea_model_decode(model, &c_batch, search, hear, user, result)
        })
    }

    fn generate(
        &mut self,
        examples: i64,
        search: &Search,
        listener: Option<Listener<'_>>,
        call: impl FnOnce(
            *const ffi::Search,
            Option<ffi::Listener>,
            *mut c_void,
            *mut *mut ffi::Outcome,
        ) -> c_int,
    ) -> Result<Vec<Vec<Hypothesis>>> {
        let prefixes = c_texts(&search.prefixes)?;
        if !prefixes.is_empty() && prefixes.len() as i64 != examples {
            let message = format!("{} prefixes for {examples} examples", prefixes.len());
            return Err(Error { kind: Kind::BadInput, message });
        }
        let places: Vec<_> = prefixes.iter().map(|prefix| prefix.as_ptr()).collect();
        let c_search = ffi::Search {
            beam: search.beam,
            nbest: search.nbest,
            max_length: search.max_length,
            min_length: search.min_length,
            sample: i64::from(search.sample),
            seed: search.seed,
            top_k: search.top_k,
            temperature: search.temperature,
            top_p: search.top_p,
            prefixes: if places.is_empty() { ptr::null() } else { places.as_ptr() },
        };
        let mut result = ptr::null_mut();
        let mut hearing = listener.map(|listener| Hearing { listener, panic: None });
        let code = match hearing.as_mut() {
            Some(hearing) => {
                let user = (hearing as *mut Hearing<'_>).cast();
                call(&c_search, Some(hear), user, &mut result)
            }
            None => call(&c_search, None, ptr::null_mut(), &mut result),
        };
        if let Some(panic) = hearing.and_then(|hearing| hearing.panic) {
            unsafe { ffi::fovea_result_close(result) };
            resume_unwind(panic);
        }
        checked(code)?;
        let all = (0..examples).map(|example| hypotheses(result, example)).collect();
        unsafe { ffi::fovea_result_close(result) };
        Ok(all)
    }

    /// The loss of a batch, and log p of each example.
    pub fn loss(&mut self, batch: &[Array<'_>]) -> Result<(f64, Vec<f64>)> {
        let own = OwnBatch::new(batch)?;
        let mut loss = 0.0;
        let mut logp = vec![0.0; usize::try_from(own.examples).unwrap_or(0)];
        let c_batch = own.get(own.examples);
        checked(unsafe {
            ffi::fovea_model_loss(self.raw(), &c_batch, &mut loss, logp.as_mut_ptr())
        })?;
        Ok((loss, logp))
    }

    /// Computes equations that the model was compiled with (`--get`): each, for
    /// each example.
    pub fn run(&mut self, batch: &[Array<'_>], equations: &[&str]) -> Result<Vec<Vec<Value>>> {
        let own = OwnBatch::new(batch)?;
        let c_batch = own.get(own.examples);
        checked(unsafe { ffi::fovea_model_run(self.raw(), &c_batch) })?;
        let names = c_texts(equations)?;
        names.iter().map(|name| (0..own.examples).map(|i| self.value(i, name)).collect()).collect()
    }

    fn value(&self, example: i64, name: &CStr) -> Result<Value> {
        let (mut values, mut shape) = (ptr::null(), ptr::null());
        let rank = unsafe {
            ffi::fovea_model_value(self.raw(), example, name.as_ptr(), &mut values, &mut shape)
        };
        if rank < 0 {
            return Err(failure(2));
        }
        if rank == 0 {
            return Ok(Value { shape: Vec::new(), values: vec![unsafe { *values }] });
        }
        let shape = unsafe { std::slice::from_raw_parts(shape, rank as usize) }.to_vec();
        let count = shape.iter().product::<i64>() as usize;
        let values = match count {
            0 => Vec::new(),
            _ => unsafe { std::slice::from_raw_parts(values, count) }.to_vec(),
        };
        Ok(Value { shape, values })
    }
}

fn hypotheses(result: *const ffi::Outcome, example: i64) -> Vec<Hypothesis> {
    let count = unsafe { ffi::fovea_result_size(result, example) };
    (0..count)
        .map(|rank| {
            let (mut logp, mut score) = (0.0, 0.0);
            unsafe { ffi::fovea_result_score(result, example, rank, &mut logp, &mut score) };
            let line = unsafe { ffi::fovea_result_text(result, example, rank, ptr::null()) };
            Hypothesis { text: text(line), logp, score }
        })
        .collect()
}
