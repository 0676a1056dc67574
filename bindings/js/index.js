// Runs models that `fovea compile --emit so` has made. Calls compute on a thread
// of their own, so Node stays responsive; index.d.ts documents them.

import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const native = require(process.env.FOVEA_ADDON ?? './build/Release/fovea.node');

const codes = ['done', 'bad_input', 'bad_call', 'bad_machine', 'busy', 'cancelled'];
const types = new Map([[Float32Array, 0], [Float64Array, 1], [BigInt64Array, 2], [Uint8Array, 3]]);
const options = ['beam', 'nbest', 'maxLength', 'minLength', 'sample', 'seed', 'topK', 'temperature', 'topP'];

export class FoveaError extends Error {
  constructor(code, message) {
    super(message);
    this.name = 'FoveaError';
    this.code = codes[code] ?? 'bad_call';
  }
}

function textsOf(texts, what) {
  if (!Array.isArray(texts) || texts.some((text) => typeof text !== 'string'))
    throw new TypeError(`${what} are an array of strings`);
  const wrong = texts.find((text) => text.includes('\0'));
  if (wrong !== undefined)
    throw new FoveaError(2, `${JSON.stringify(wrong)} has a NUL`);
  return texts;
}

function searchOf(search, examples) {
  const prefixes = search.prefixes ? textsOf(search.prefixes, 'prefixes') : null;
  if (prefixes && prefixes.length !== examples)
    throw new FoveaError(1, `${prefixes.length} prefixes for ${examples} examples`);
  return { numbers: Float64Array.from(options, (name) => Number(search[name] ?? 0)), prefixes };
}

// The arrays of a batch as the addon takes them: names, types, shapes, bytes.
function batchOf(batch, examples = 0) {
  const arrays = Object.entries(batch).map(([name, { shape, values }]) => {
    const type = types.get(values?.constructor);
    if (type === undefined)
      throw new FoveaError(1, `'${name}' is no Float32Array, Float64Array, BigInt64Array or Uint8Array`);
    if (!shape.every((extent) => Number.isSafeInteger(extent) && extent >= 0) ||
        shape.reduce((all, extent) => all * extent, 1) !== values.length)
      throw new FoveaError(1, `'${name}' has ${values.length} values, but its shape is [${shape}]`);
    // A copy: the call runs while the caller may go on.
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength).slice();
    return { name: textsOf([name], 'names')[0], type, shape: BigInt64Array.from(shape.map(BigInt)), bytes };
  });
  return { arrays, examples: arrays[0]?.shape.length > 0 ? Number(arrays[0].shape[0]) : examples };
}

// Calls a function of the addon, which fails with [code, message].
async function called(start) {
  try {
    return await start();
  } catch (error) {
    throw Array.isArray(error) ? new FoveaError(...error) : error;
  }
}

// What a listener throws ends the search, and is thrown by the call.
async function heardBy(listener, start) {
  let thrown = null;
  const hear = listener && ((example, name, value, symbol) => {
    if (thrown)
      return false;
    try {
      return listener({ example, name, value, symbol }) !== false;
    } catch (error) {
      thrown = { error };
      return false;
    }
  });
  const result = await called(() => start(hear ?? null));
  if (thrown)
    throw thrown.error;
  return result;
}

export class Model {
  #native;

  static open(library, { weights = null, threads = 0 } = {}) {
    const model = new Model();
    try {
      model.#native = native.open(...textsOf([library], 'names'), weights && textsOf([weights], 'names')[0], threads);
    } catch (error) {
      throw Array.isArray(error) ? new FoveaError(...error) : error;
    }
    model.about = JSON.parse(native.about(model.#native));
    model.inputs = model.about.data.map(({ name }) => name);
    return model;
  }

  async text(lines, search = {}, listener = null) {
    const examples = textsOf(lines, 'lines').length;
    const own = searchOf(search, examples);
    return heardBy(listener, (hear) => native.generate(this.#native, examples, lines, null, own, hear));
  }

  async decode(batch, search = {}, listener = null) {
    const { arrays, examples } = batchOf(batch, search.examples);
    const own = searchOf(search, examples);
    return heardBy(listener, (hear) => native.generate(this.#native, examples, null, arrays, own, hear));
  }

  async *stream(lines, search = {}) {
    const heard = [];
    let wake = () => {}, isOpen = true;
    const result = this.text(lines, { beam: 1, ...search }, (each) => {
      heard.push(each);
      wake();
      return isOpen;
    });
    const end = result.then(() => true, () => true);
    try {
      for (let isDone = false; !isDone;) {
        while (heard.length > 0)
          yield heard.shift();
        isDone = await Promise.race([end, new Promise((resolve) => { wake = () => resolve(false); })]);
      }
      yield* heard;
      return await result;
    } finally {
      isOpen = false;
      await end;
    }
  }

  async loss(batch) {
    const { arrays, examples } = batchOf(batch);
    const [loss, logp] = await called(() => native.loss(this.#native, examples, arrays));
    return { loss, logp };
  }

  async run(batch, equations) {
    const { arrays, examples } = batchOf(batch);
    const values = await called(() =>
      native.run(this.#native, examples, arrays, textsOf(equations, 'equations')));
    return Object.fromEntries(equations.map((name, i) =>
      [name, values.slice(i * examples, (i + 1) * examples)]));
  }

  cancel() {
    native.cancel(this.#native);
  }

  close() {
    native.close(this.#native);
  }
}
