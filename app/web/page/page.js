const find = (id) => document.getElementById(id);
const shortest = (value) => String(Number(value.toPrecision(4)));

// Piece by piece: texts of browsers have a limit.
function moduleBytes() {
  const text = find('module').textContent, step = 1 << 20;
  const bytes = new Uint8Array(text.length / 4 * 3 - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0));
  for (let from = 0, to = 0; from < text.length; from += step) {
    const part = atob(text.slice(from, from + step));
    for (let i = 0; i < part.length; ++i) bytes[to++] = part.charCodeAt(i);
  }
  return bytes;
}

// What the model says, by promises: of a worker, so that the page stays awake,
// or of this thread where a browser gives none.
function startInWorker(bytes) {
  const source = find('engine').textContent + `
    let engine;
    onmessage = async ({ data }) => {
      try {
        if (data.bytes) engine = await startEngine(data.bytes);
        const result = data.bytes ? engine.about : engine.answer(data.question);
        postMessage({ result, hasEnded: engine.hasEnded() });
      } catch (error) {
        postMessage({ result: { error: 'the model cannot start: ' + error.message }, hasEnded: true });
      }
    };`;
  return new Promise((resolve, reject) => {
    const worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
    const ask = (message) => new Promise((answer) => {
      worker.onmessage = ({ data }) => answer(data);
      worker.postMessage(message);
    });
    worker.onerror = (event) => reject(new Error(event.message));
    ask({ bytes }).then(({ result, hasEnded }) => resolve({
      about: result, hasEnded, answer: (question) => ask({ question }), end: () => worker.terminate(),
    }));
  });
}

async function startHere(bytes) {
  const engine = await startEngine(bytes);
  return {
    about: engine.about, hasEnded: engine.hasEnded(), end: () => {},
    answer: async (question) => ({ result: engine.answer(question), hasEnded: engine.hasEnded() }),
  };
}

async function start() {
  const bytes = moduleBytes();
  try {
    return await startInWorker(bytes);
  } catch {
    return await startHere(bytes);
  }
}

let model = null, isBusy = false, isAskedAgain = false, timer = 0, shown = [];

function showMistake(text) {
  find('mistake').hidden = !text;
  find('mistake').textContent = text;
}

function tableOf({ title, rows, columns, values }) {
  const table = document.createElement('table'), head = table.createTHead().insertRow();
  table.createCaption().textContent = title;
  const header = (row, text, scope) => row.append(Object.assign(document.createElement('th'), { textContent: text, scope }));
  header(head, '', 'col');
  for (const column of columns) header(head, column, 'col');
  const body = table.createTBody();
  rows.forEach((name, number) => {
    const row = body.insertRow();
    header(row, name, 'row');
    columns.forEach((_, column) => {
      const value = values[number * columns.length + column];
      row.insertCell().textContent = value === null ? 'no number' : shortest(value);
    });
  });
  const box = document.createElement('div');
  box.append(table);
  return box;
}

function showPictures(number) {
  [...find('answers').querySelectorAll('button')].forEach((button, i) => button.setAttribute('aria-pressed', i === number));
  const pictures = shown[number]?.pictures ?? [];
  find('pictures').hidden = pictures.length === 0;
  // The drawing is made by the model's own code, which escapes every word.
  find('drawings').innerHTML = pictures.map((picture) => picture.drawing).join('');
  find('tables').replaceChildren(...pictures.flatMap((picture) => picture.tables.map(tableOf)));
  takeTips();
}

function showAnswers(hypotheses, milliseconds) {
  shown = hypotheses;
  find('answers').hidden = hypotheses.length === 0;
  find('answers').tBodies[0].replaceChildren(...hypotheses.map((one, number) => {
    const row = document.createElement('tr');
    const button = Object.assign(document.createElement('button'), { type: 'button', textContent: one.text || '(nothing)' });
    button.addEventListener('click', () => showPictures(number));
    row.insertCell().append(button);
    row.insertCell().textContent = shortest(one.logp);
    row.insertCell().textContent = shortest(one.score);
    return row;
  }));
  find('state').textContent = hypotheses.length === 0 ? 'no answer'
    : `answered in ${milliseconds.toFixed(0)} ms: ${hypotheses[0].text || 'nothing'}`;
  showPictures(0);
}

// Of each field that takes a file: the name and the bytes of the last one.
const taken = new Map();

const inputs = () => [...find('fields').querySelectorAll('input')];
const textOf = (input) => input.type === 'file' ? taken.get(input)?.name ?? '' : input.value;

// One question at a time. Meanwhile only the latest question is kept.
async function ask() {
  if (isBusy) {
    isAskedAgain = true;
    return;
  }
  isBusy = true;
  do {
    isAskedAgain = false;
    const nbest = Number(find('nbest').value);
    const line = inputs().map((input) => textOf(input).replace(/\s+/g, ' ').trim()).join('\t');
    const files = inputs().map((input) => taken.get(input)?.bytes);
    if (inputs().length > 0 && line.trim() === '') {
      showMistake('');
      showAnswers([], 0);
      find('state').textContent = invitation();
      continue;
    }
    const begin = performance.now();
    const { result, hasEnded } = await model.answer({ line, files, nbest, beam: Math.max(nbest, model.about.beam) });
    showMistake(result.error ?? '');
    if (result.error) {
      showAnswers([], 0);
    } else {
      showAnswers(result.hypotheses, performance.now() - begin);
    }
    if (hasEnded) {
      model.end();
      model = await start();
    }
  } while (isAskedAgain);
  isBusy = false;
}

function askSoon() {
  clearTimeout(timer);
  timer = setTimeout(ask, 150);
}

const invitation = () => inputs().every((input) => input.type === 'file') ? 'choose a file' : 'type something';

// A button that records; pressed again, it gives what it heard.
function microphone(take) {
  const button = Object.assign(document.createElement('button'), { type: 'button', textContent: 'record' });
  let stop = null;
  button.addEventListener('click', async () => {
    try {
      if (stop) stop();
      stop = stop ? null : await recordSound(take);
    } catch (error) {
      showMistake(`the microphone cannot be used: ${error.message}`);
    }
    button.textContent = stop ? 'stop' : 'record';
  });
  return button;
}

function fieldOf(name, text) {
  const label = document.createElement('label');
  const input = Object.assign(document.createElement('input'), {
    name, type: 'text', autocomplete: 'off', spellcheck: false, autocapitalize: 'off', value: text });
  label.append(name, input);
  input.addEventListener('input', askSoon);
  return [label];
}

function fileFieldOf(name, wanted) {
  const isSound = wanted.kind === 'sound', label = document.createElement('label');
  const input = Object.assign(document.createElement('input'), { name, type: 'file', accept: isSound ? 'audio/*' : 'image/*' });
  const take = async (blob, called) => {
    try {
      taken.set(input, { name: called, bytes: await (isSound ? soundOf : pictureOf)(blob, wanted) });
      ask();
    } catch (error) {
      showMistake(`the browser cannot read '${called}': ${error.message}`);
    }
  };
  label.append(name, input);
  input.addEventListener('change', () => {
    if (input.files.length > 0) take(input.files[0], input.files[0].name);
  });
  return isSound ? [label, microphone((sound) => take(sound, 'microphone'))] : [label];
}

async function begin() {
  try {
    model = await start();
  } catch (error) {
    model = { about: { error: `this browser cannot run the model: ${error.message}` } };
  }
  if (model.about.error) {
    find('state').textContent = '';
    showMistake(model.about.error);
    return;
  }
  const { about } = model, given = new URLSearchParams(location.hash.slice(1));
  find('compiler').textContent = about.compiler;
  for (const name of about.inputs) {
    find('fields').append(...(about.files[name] ? fileFieldOf(name, about.files[name]) : fieldOf(name, given.get(name) ?? '')));
  }
  find('nbest').value = given.get('answers') ?? '1';
  if (find('nbest').value === '') find('nbest').value = '1';
  find('nbest').addEventListener('change', ask);
  find('ask').disabled = false;
  find('question').addEventListener('submit', (event) => {
    event.preventDefault();
    ask();
  });
  find('state').textContent = about.inputs.length > 0 ? invitation() : 'ready';
  if (inputs().some((input) => textOf(input) !== '')) ask();
}
begin();
