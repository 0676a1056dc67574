'use strict';
// The model: runs in a worker, where there is none in the page, and in Node.
async function startEngine(bytes) {
  class Ended extends Error {}
  // A model asks nothing of a system; it only says that it cannot go on.
  const system = new Proxy({}, {
    get: (_, name) => name !== 'proc_exit' ? () => 52
      : () => { throw new Ended('this needs more memory than the browser gives'); },
  });
  const { instance } = await WebAssembly.instantiate(bytes, { wasi_snapshot_preview1: system });
  const own = instance.exports;
  let hasEnded = false;
  const call = (work) => {
    try {
      const memory = () => new Uint8Array(own.memory.buffer);
      const at = work(memory);
      return JSON.parse(new TextDecoder().decode(memory().slice(at, memory().indexOf(0, at))));
    } catch (error) {
      hasEnded = true;
      return { error: error instanceof Ended ? error.message : `the model has failed: ${error.message}` };
    }
  };
  own._initialize();
  return {
    about: call(() => own.fovea_page_open()),
    hasEnded: () => hasEnded,
    answer: (question) => call((memory) => {
      (question.files ?? []).forEach((file, input) => {
        if (!file) return;
        const at = own.fovea_web_file(input, file.length);
        if (at) memory().set(file, at);
      });
      const text = new TextEncoder().encode(JSON.stringify(question.files ? { ...question, files: undefined } : question) + '\0');
      const at = own.fovea_web_room(text.length);
      memory().set(text, at);
      return own.fovea_web_answer();
    }),
  };
}
