// Package fovea runs models that `fovea compile --emit so` has made: a thin
// layer over fovea.h. Results have the bits of `fovea`.
//
// A model serves one call at a time: a second one returns an error of the kind
// Busy. Cancel may be called from anywhere.
package fovea

/*
#cgo pkg-config: fovea
#include <stdlib.h>
#include "fovea.h"

extern int foveaHear(uintptr_t, int64_t, char *, double, char *);

static int hear(void *user, int64_t example, const char *name, double value,
                const char *symbol) {
  return foveaHear((uintptr_t)user, example, (char *)name, value,
                   (char *)symbol);
}

// A listener of Go is a number, which is no address of Go's memory.
static int generate(fovea_model *model, int64_t examples, char **lines,
                    const fovea_batch *batch, fovea_search *search,
                    uintptr_t listener, fovea_result **result) {
  fovea_listener call = listener ? hear : NULL;
  void *user = (void *)listener;
  return batch ? fovea_model_decode(model, batch, search, call, user, result)
               : fovea_model_text(model, examples, (const char *const *)lines,
                                  search, call, user, result);
}

static void setPrefixes(fovea_search *search, char **prefixes) {
  search->prefixes = (const char *const *)prefixes;
}
*/
import "C"

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/cgo"
	"strings"
	"unsafe"
)

// Kind says why a call failed, as the codes of fovea.h do.
type Kind int

const (
	BadInput   Kind = 1 // a batch, a line, weights
	BadCall    Kind = 2 // no such entry, a text with a NUL
	BadMachine Kind = 3 // memory, disk, a library that cannot be loaded
	Busy       Kind = 4 // another goroutine uses the model
	Cancelled  Kind = 5 // by Cancel
)

// Error is a failed call, with one sentence about it.
type Error struct {
	Kind    Kind
	Message string
}

func (e *Error) Error() string { return e.Message }

// Data is a name of the data of a model.
type Data struct {
	Name      string `json:"name"`
	Kind      string `json:"kind"`
	Axes      []any  `json:"axes"` // numbers, and names of lengths
	Generated bool   `json:"generated"`
	Text      bool   `json:"text"` // whether a line of text can contain it
}

// Parameter is a parameter of a model.
type Parameter struct {
	Name  string  `json:"name"`
	Shape []int64 `json:"shape"`
}

// About says what a model has.
type About struct {
	Model      string      `json:"model"`
	Compiler   string      `json:"compiler"`
	CPU        string      `json:"cpu"`
	Type       string      `json:"type"`
	Entries    []string    `json:"entries"`
	Data       []Data      `json:"data"`
	Parameters []Parameter `json:"parameters"`
	Equations  []string    `json:"equations"`
}

// Search says how to generate. Zeros stand for what the spec says, or nothing.
type Search struct {
	Beam, NBest, MaxLength, MinLength int
	Sample                            bool // draws instead, NBest times
	Seed                              int64
	TopK                              int
	Temperature, TopP                 float64
	Prefixes                          []string // of each example, or none
}

// Heard is a generated value. Symbol is empty if it has none.
type Heard struct {
	Example      int
	Name, Symbol string
	Value        float64
}

// Listener hears each value as soon as there is one. False ends the search of
// this example.
type Listener func(Heard) bool

// Hypothesis is one of an example; Score ranks it.
type Hypothesis struct {
	Text        string
	LogP, Score float64
}

// Array is an array of a batch, of which the examples are the first axis:
// `src`, padded at the end, and `src.length` as []int64. Values is a []float32,
// []float64, []int64 or []uint8.
type Array struct {
	Name   string
	Shape  []int64
	Values any
}

// Value is the value of an equation in one example.
type Value struct {
	Shape  []int64
	Values []float64
}

// Model is an open model.
type Model struct{ own *C.fovea_model }

// Calls `do` and, if it fails, takes the message of the same thread.
func call(do func() C.int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if code := do(); code != C.fovea_done {
		return &Error{Kind(code), C.GoString(C.fovea_message())}
	}
	return nil
}

// Memory of C that lives for one call.
type memory struct{ all []unsafe.Pointer }

func (m *memory) free() {
	for _, each := range m.all {
		C.free(each)
	}
}

func (m *memory) bytes(size int) unsafe.Pointer {
	place := C.malloc(C.size_t(size + 1))
	m.all = append(m.all, place)
	return place
}

func (m *memory) text(text string) (*C.char, error) {
	if strings.ContainsRune(text, 0) {
		return nil, &Error{BadCall, fmt.Sprintf("%q has a NUL", text)}
	}
	place := C.CString(text)
	m.all = append(m.all, unsafe.Pointer(place))
	return place, nil
}

func (m *memory) texts(texts []string) (**C.char, error) {
	place := m.bytes(len(texts) * int(unsafe.Sizeof((*C.char)(nil))))
	all := unsafe.Slice((**C.char)(place), len(texts))
	for i, text := range texts {
		var err error
		if all[i], err = m.text(text); err != nil {
			return nil, err
		}
	}
	return (**C.char)(place), nil
}

func copied[T any](m *memory, values []T) unsafe.Pointer {
	var zero T
	place := m.bytes(len(values) * int(unsafe.Sizeof(zero)))
	copy(unsafe.Slice((*T)(place), len(values)), values)
	return place
}

// The arrays as fovea.h has them, and how many examples the first one has.
func (m *memory) batch(arrays []Array, examples int) (*C.fovea_batch, int, error) {
	place := m.bytes(len(arrays) * int(unsafe.Sizeof(C.fovea_array{})))
	all := unsafe.Slice((*C.fovea_array)(place), len(arrays))
	for i, array := range arrays {
		name, err := m.text(array.Name)
		if err != nil {
			return nil, 0, err
		}
		var kind, count int
		var values unsafe.Pointer
		switch given := array.Values.(type) {
		case []float32:
			kind, count, values = C.fovea_f32, len(given), copied(m, given)
		case []float64:
			kind, count, values = C.fovea_f64, len(given), copied(m, given)
		case []int64:
			kind, count, values = C.fovea_i64, len(given), copied(m, given)
		case []uint8:
			kind, count, values = C.fovea_u8, len(given), copied(m, given)
		default:
			return nil, 0, &Error{BadInput, fmt.Sprintf("'%s' is a %T; help: use []float32, []float64, []int64 or []uint8", array.Name, given)}
		}
		product := int64(1)
		for _, extent := range array.Shape {
			if extent < 0 || (extent > 0 && product > int64(count)/extent) {
				product = -1
				break
			}
			product *= extent
		}
		if product != int64(count) {
			return nil, 0, &Error{BadInput, fmt.Sprintf("'%s' has %d values, but its shape is %v", array.Name, count, array.Shape)}
		}
		if i == 0 && len(array.Shape) > 0 {
			examples = int(array.Shape[0])
		}
		all[i] = C.fovea_array{name: name, _type: C.int64_t(kind), rank: C.int64_t(len(array.Shape)),
			shape: (*C.int64_t)(copied(m, array.Shape)), values: values}
	}
	batch := (*C.fovea_batch)(m.bytes(int(unsafe.Sizeof(C.fovea_batch{}))))
	*batch = C.fovea_batch{examples: C.int64_t(examples), count: C.int64_t(len(arrays)), arrays: (*C.fovea_array)(place)}
	return batch, examples, nil
}

// Open opens the library of a model. Without weights ("") those inside are
// used. Threads 0: one for each CPU. The caller closes the model.
func Open(library, weights string, threads int) (*Model, error) {
	var m memory
	defer m.free()
	path, err := m.text(library)
	if err != nil {
		return nil, err
	}
	var file *C.char
	if weights != "" {
		if file, err = m.text(weights); err != nil {
			return nil, err
		}
	}
	model := &Model{}
	err = call(func() C.int { return C.fovea_model_open(path, file, C.int(threads), &model.own) })
	if err != nil {
		return nil, err
	}
	return model, nil
}

// Close closes a model that no call uses.
func (m *Model) Close() {
	C.fovea_model_close(m.own)
	m.own = nil
}

// About says what the model has.
func (m *Model) About() (About, error) {
	var about About
	text := C.fovea_model_about(m.own)
	if text == nil {
		return about, &Error{BadCall, "the model is closed"}
	}
	err := json.Unmarshal([]byte(C.GoString(text)), &about)
	return about, err
}

// Inputs returns the names of the data, in the order of the spec.
func (m *Model) Inputs() []string {
	var names []string
	for i := C.int64_t(0); i < C.fovea_model_inputs(m.own); i++ {
		names = append(names, C.GoString(C.fovea_model_input(m.own, i)))
	}
	return names
}

// Cancel ends the decoding that is running, from any goroutine or from a
// listener. It then returns an error of the kind Cancelled.
func (m *Model) Cancel() { C.fovea_model_cancel(m.own) }

// A listener, and what it has thrown.
type hearing struct {
	listener Listener
	thrown   any
}

//export foveaHear
func foveaHear(user C.uintptr_t, example C.int64_t, name *C.char, value C.double, symbol *C.char) (goesOn C.int) {
	own := cgo.Handle(user).Value().(*hearing)
	if own.thrown != nil {
		return 0
	}
	// A panic may not cross C: it goes on after the call.
	defer func() {
		if own.thrown = recover(); own.thrown != nil {
			goesOn = 0
		}
	}()
	heard := Heard{Example: int(example), Name: C.GoString(name), Value: float64(value)}
	if symbol != nil {
		heard.Symbol = C.GoString(symbol)
	}
	if own.listener(heard) {
		goesOn = 1
	}
	return goesOn
}

// Text generates from lines of text: the hypotheses of each, best first. A
// listener, which may be nil, needs a beam of 1, or samples.
func (m *Model) Text(lines []string, search Search, listener Listener) ([][]Hypothesis, error) {
	var own memory
	defer own.free()
	texts, err := own.texts(lines)
	if err != nil {
		return nil, err
	}
	return m.generate(&own, texts, nil, len(lines), search, listener)
}

// Decode generates from a batch. The number of examples is only needed for a
// model without inputs.
func (m *Model) Decode(arrays []Array, examples int, search Search, listener Listener) ([][]Hypothesis, error) {
	var own memory
	defer own.free()
	batch, examples, err := own.batch(arrays, examples)
	if err != nil {
		return nil, err
	}
	return m.generate(&own, nil, batch, examples, search, listener)
}

func (m *Model) generate(own *memory, lines **C.char, batch *C.fovea_batch, examples int, search Search, listener Listener) ([][]Hypothesis, error) {
	options := (*C.fovea_search)(own.bytes(int(unsafe.Sizeof(C.fovea_search{}))))
	*options = C.fovea_search{beam: C.int64_t(search.Beam), nbest: C.int64_t(search.NBest),
		max_length: C.int64_t(search.MaxLength), min_length: C.int64_t(search.MinLength),
		seed: C.int64_t(search.Seed), top_k: C.int64_t(search.TopK),
		temperature: C.double(search.Temperature), top_p: C.double(search.TopP)}
	if search.Sample {
		options.sample = 1
	}
	if count := len(search.Prefixes); count > 0 {
		if count != examples {
			return nil, &Error{BadInput, fmt.Sprintf("%d prefixes for %d examples", count, examples)}
		}
		prefixes, err := own.texts(search.Prefixes)
		if err != nil {
			return nil, err
		}
		C.setPrefixes(options, prefixes)
	}
	var heard hearing
	var number C.uintptr_t
	if listener != nil {
		heard.listener = listener
		handle := cgo.NewHandle(&heard)
		defer handle.Delete()
		number = C.uintptr_t(handle)
	}
	var result *C.fovea_result
	err := call(func() C.int {
		return C.generate(m.own, C.int64_t(examples), lines, batch, options, number, &result)
	})
	if result != nil {
		defer C.fovea_result_close(result)
	}
	if heard.thrown != nil {
		panic(heard.thrown)
	}
	if err != nil {
		return nil, err
	}
	all := make([][]Hypothesis, examples)
	for i := range all {
		for rank := C.int64_t(0); rank < C.fovea_result_size(result, C.int64_t(i)); rank++ {
			var logp, score C.double
			C.fovea_result_score(result, C.int64_t(i), rank, &logp, &score)
			text := C.GoString(C.fovea_result_text(result, C.int64_t(i), rank, nil))
			all[i] = append(all[i], Hypothesis{text, float64(logp), float64(score)})
		}
	}
	return all, nil
}

// Loss computes the loss of a batch, and log p of each example.
func (m *Model) Loss(arrays []Array) (float64, []float64, error) {
	var own memory
	defer own.free()
	batch, examples, err := own.batch(arrays, 0)
	if err != nil {
		return 0, nil, err
	}
	var loss C.double
	logp := make([]float64, examples+1)
	err = call(func() C.int {
		return C.fovea_model_loss(m.own, batch, &loss, (*C.double)(unsafe.Pointer(&logp[0])))
	})
	return float64(loss), logp[:examples], err
}

// Run computes equations that the model was compiled with (`--get`): each, for
// each example.
func (m *Model) Run(arrays []Array, equations ...string) (map[string][]Value, error) {
	var own memory
	defer own.free()
	batch, examples, err := own.batch(arrays, 0)
	if err != nil {
		return nil, err
	}
	if err = call(func() C.int { return C.fovea_model_run(m.own, batch) }); err != nil {
		return nil, err
	}
	all := map[string][]Value{}
	for _, equation := range equations {
		name, err := own.text(equation)
		if err != nil {
			return nil, err
		}
		for i := 0; i < examples; i++ {
			value, err := m.value(i, name)
			if err != nil {
				return nil, err
			}
			all[equation] = append(all[equation], value)
		}
	}
	return all, nil
}

func (m *Model) value(example int, name *C.char) (Value, error) {
	var values *C.double
	var shape *C.int64_t
	var rank C.int64_t
	err := call(func() C.int {
		rank = C.fovea_model_value(m.own, C.int64_t(example), name, &values, &shape)
		if rank < 0 {
			return C.fovea_bad_call
		}
		return C.fovea_done
	})
	if err != nil {
		return Value{}, err
	}
	value := Value{Shape: []int64{}}
	count := int64(1)
	if rank > 0 {
		for _, extent := range unsafe.Slice(shape, int(rank)) {
			value.Shape = append(value.Shape, int64(extent))
			count *= int64(extent)
		}
	}
	if count > 0 {
		value.Values = append(value.Values, unsafe.Slice((*float64)(unsafe.Pointer(values)), int(count))...)
	}
	return value, nil
}
