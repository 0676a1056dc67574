/** Runs models that `fovea compile --emit so` has made. */

export type Values = Float32Array | Float64Array | BigInt64Array | Uint8Array;

/** The examples are the first axis: `src`, padded at the end, `src.length`. */
export interface Tensor { shape: number[]; values: Values; }
export type Batch = Record<string, Tensor>;

/** What is not given is as the spec says. */
export interface Search {
  beam?: number;
  nbest?: number;
  maxLength?: number;
  minLength?: number;
  /** Draws instead of searching, `nbest` times. */
  sample?: boolean;
  seed?: number;
  topK?: number;
  temperature?: number;
  topP?: number;
  /** A line for each example that its output begins with. */
  prefixes?: string[];
}

/** A generated value; `symbol` is null if it has none. */
export interface Heard { example: number; name: string; value: number; symbol: string | null; }
export interface Hypothesis { text: string; logp: number; score: number; }
export interface Value { shape: number[]; values: Float64Array; }
export type Listener = (heard: Heard) => boolean | void;

/** A failed call; `message` is one sentence about it. */
export class FoveaError extends Error {
  code: 'bad_input' | 'bad_call' | 'bad_machine' | 'busy' | 'cancelled';
}

export interface About {
  model: string;
  compiler: string;
  cpu: string;
  type: 'f32' | 'f64';
  entries: string[];
  data: { name: string; kind: string; axes: (number | string)[]; generated: boolean; text: boolean }[];
  parameters: { name: string; shape: number[] }[];
  equations: string[];
}

export class Model {
  /** Of a library; without `weights`, with those inside. */
  static open(library: string, options?: { weights?: string; threads?: number }): Model;
  readonly about: About;
  readonly inputs: string[];
  /** The hypotheses of each line, best first. A listener's `false` ends the search of an example. */
  text(lines: string[], search?: Search, listener?: Listener): Promise<Hypothesis[][]>;
  decode(batch: Batch, search?: Search & { examples?: number }, listener?: Listener): Promise<Hypothesis[][]>;
  /** Each value as soon as it is generated. To leave the loop ends the search. */
  stream(lines: string[], search?: Search): AsyncGenerator<Heard, Hypothesis[][]>;
  loss(batch: Batch): Promise<{ loss: number; logp: Float64Array }>;
  /** Equations that the model was compiled with (`--get`): each, for each example. */
  run(batch: Batch, equations: string[]): Promise<Record<string, Value[]>>;
  /** Ends the decoding that is running: it is rejected with the code `cancelled`. */
  cancel(): void;
  close(): void;
}
