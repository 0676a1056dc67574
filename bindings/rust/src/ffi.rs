//! The functions of fovea.h that this crate calls. Version 1 never changes.

use std::os::raw::{c_char, c_double, c_int, c_void};

pub const DONE: c_int = 0;

#[repr(C)]
pub struct Model {
    _private: [u8; 0],
}

#[repr(C)]
pub struct Outcome {
    _private: [u8; 0],
}

#[repr(C)]
pub struct Array {
    pub name: *const c_char,
    pub kind: i64,
    pub rank: i64,
    pub shape: *const i64,
    pub values: *const c_void,
}

#[repr(C)]
pub struct Batch {
    pub examples: i64,
    pub count: i64,
    pub arrays: *const Array,
}

#[repr(C)]
pub struct Search {
    pub beam: i64,
    pub nbest: i64,
    pub max_length: i64,
    pub min_length: i64,
    pub sample: i64,
    pub seed: i64,
    pub top_k: i64,
    pub temperature: c_double,
    pub top_p: c_double,
    pub prefixes: *const *const c_char,
}

pub type Listener =
    extern "C" fn(*mut c_void, i64, *const c_char, c_double, *const c_char) -> c_int;

extern "C" {
    pub fn fovea_message() -> *const c_char;
    pub fn fovea_model_open(
        library: *const c_char,
        weights: *const c_char,
        threads: c_int,
        model: *mut *mut Model,
    ) -> c_int;
    pub fn fovea_model_close(model: *mut Model);
    pub fn fovea_model_about(model: *mut Model) -> *const c_char;
    pub fn fovea_model_inputs(model: *mut Model) -> i64;
    pub fn fovea_model_input(model: *mut Model, which: i64) -> *const c_char;
    pub fn fovea_model_loss(
        model: *mut Model,
        batch: *const Batch,
        loss: *mut c_double,
        logp: *mut c_double,
    ) -> c_int;
    pub fn fovea_model_run(model: *mut Model, batch: *const Batch) -> c_int;
    pub fn fovea_model_value(
        model: *mut Model,
        example: i64,
        equation: *const c_char,
        values: *mut *const c_double,
        shape: *mut *const i64,
    ) -> i64;
    pub fn fovea_model_decode(
        model: *mut Model,
        batch: *const Batch,
        search: *const Search,
        listener: Option<Listener>,
        user: *mut c_void,
        result: *mut *mut Outcome,
    ) -> c_int;
    pub fn fovea_model_text(
        model: *mut Model,
        examples: i64,
        lines: *const *const c_char,
        search: *const Search,
        listener: Option<Listener>,
        user: *mut c_void,
        result: *mut *mut Outcome,
    ) -> c_int;
    pub fn fovea_model_cancel(model: *mut Model);
    pub fn fovea_result_size(result: *const Outcome, example: i64) -> i64;
    pub fn fovea_result_score(
        result: *const Outcome,
        example: i64,
        rank: i64,
        logp: *mut c_double,
        score: *mut c_double,
    ) -> c_int;
    pub fn fovea_result_text(
        result: *const Outcome,
        example: i64,
        rank: i64,
        name: *const c_char,
    ) -> *const c_char;
    pub fn fovea_result_close(result: *mut Outcome);
}
