// What a training has written, drawn as it comes. Nothing is loaded from
// anywhere but this server.
'use strict';

// As `fovea plot` draws the curves of one training (pictures/Color.cpp).
const colors = { training: '#0072b2', validation: '#d55e00' };
const find = (id) => document.getElementById(id);
const axes = ['step', 'epoch', 'seconds'];
let entries = [], place = 0, rest = '', hasDecoded = false;

// The curves of one picture: those of the training, and of its validations.
function groups() {
  const names = new Set();
  for (const entry of entries)
    for (const [name, value] of Object.entries(entry))
      if (typeof value === 'number' && !axes.includes(name)) names.add(name);
  const result = new Map();
  for (const name of names) {
    const title = name.replace(/^valid_/, '');
    if (!result.has(title)) result.set(title, []);
    result.get(title).push(name);
  }
  return result;
}

function pointsOf(name) {
  const over = find('over').value;
  return entries.filter((entry) => Number.isFinite(entry[name]))
    .map((entry) => ({ x: entry[over], y: entry[name], best: entry.best === true, entry }));
}

// A mean over what came before, without the bias of its beginning.
function smoothed(points, share) {
  let sum = 0, weight = 0;
  return points.map((point) => {
    sum = share * sum + (1 - share) * point.y;
    weight = share * weight + (1 - share);
    return { ...point, y: sum / weight };
  });
}

const short = (value) => value === 0 ? '0'
  : Math.abs(value) >= 1e6 || Math.abs(value) < 1e-3 ? value.toExponential(2)
    : String(Number(value.toPrecision(4)));

function element(name, attributes, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function ticks(low, high, isLog) {
  if (isLog) {
    const result = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); ++power)
      for (const digit of [1, 2, 5]) {
        const value = digit * 10 ** power;
        if (value >= low && value <= high) result.push(value);
      }
    if (result.length > 1) return result.filter((_, i) => i % Math.ceil(result.length / 6) === 0);
  }
  const step = 10 ** Math.floor(Math.log10((high - low) / 4 || 1));
  const wide = [1, 2, 5, 10].find((times) => (high - low) / (times * step) <= 5) * step;
  const result = [];
  for (let value = Math.ceil(low / wide) * wide; value <= high + wide / 1e6; value += wide) result.push(value);
  return result;
}

function draw(title, names) {
  const width = 420, height = 240, left = 58, right = 10, top = 8, bottom = 24;
  const share = Number(find('smooth').value);
  const curves = names.map((name) => ({ name, points: pointsOf(name) })).filter((curve) => curve.points.length);
  const all = curves.flatMap((curve) => curve.points);
  const isLog = find('scale').value === 'log' && all.every((point) => point.y > 0);
  const scale = (value) => isLog ? Math.log(value) : value;
  const xs = all.map((point) => point.x), ys = all.map((point) => point.y);
  let [x0, x1] = [Math.min(...xs), Math.max(...xs)], [y0, y1] = [Math.min(...ys), Math.max(...ys)];
  if (x0 === x1) x1 = x0 + 1;
  if (y0 === y1) [y0, y1] = isLog ? [y0 / 2, y1 * 2] : [y0 - (Math.abs(y0) / 10 || 1), y1 + (Math.abs(y1) / 10 || 1)];
  const toX = (x) => left + (x - x0) / (x1 - x0) * (width - left - right);
  const toY = (y) => height - bottom - (scale(y) - scale(y0)) / (scale(y1) - scale(y0)) * (height - top - bottom);
  const picture = element('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img',
    'aria-label': `${title}: ${curves.map((curve) => `${curve.name} is ${short(curve.points.at(-1).y)}`).join(', ')}` });
  for (const value of ticks(y0, y1, isLog))
    picture.append(element('line', { class: 'grid', x1: left, x2: width - right, y1: toY(value), y2: toY(value) }),
      element('text', { x: left - 5, y: toY(value) + 4, 'text-anchor': 'end' }, short(value)));
  for (const value of ticks(x0, x1, false))
    picture.append(element('text', { x: toX(value), y: height - 6, 'text-anchor': 'middle' }, short(value)));
  const path = (points) => points.map((point) => `${toX(point.x).toFixed(1)},${toY(point.y).toFixed(1)}`).join(' ');
  const caption = document.createElement('figcaption');
  caption.append(Object.assign(document.createElement('b'), { textContent: title }));
  curves.forEach((curve) => {
    const isValid = curve.name.startsWith('valid_');
    const kind = isValid ? 'validation' : 'training';
    const look = { class: `curve${isValid ? ' valid' : ''}`, stroke: colors[kind] };
    if (share > 0) picture.append(element('polyline', { ...look, class: look.class + ' raw', points: path(curve.points) }));
    picture.append(element('polyline', { ...look, points: path(smoothed(curve.points, share)) }));
    const best = curve.points.filter((point) => point.best).at(-1);
    if (isValid && best)
      picture.append(element('circle', { class: 'best', cx: toX(best.x), cy: toY(best.y), r: 5 },
        element('title', {}, `best: ${short(best.y)}, update ${best.entry.step}`)));
    const key = document.createElement('span');
    key.textContent = `${isValid ? '╌╌' : '──'} ${kind} ${short(curve.points.at(-1).y)}`;
    key.style.color = colors[kind];
    caption.append(key);
  });
  const figure = document.createElement('figure');
  figure.dataset.name = title;
  figure.append(caption, picture);
  return figure;
}

function drawAll() {
  const charts = [...groups()].map(([title, names]) => draw(title, names));
  find('charts').replaceChildren(...charts);
  const rows = [];
  for (const [, names] of groups())
    for (const name of names) {
      const points = pointsOf(name), best = points.filter((point) => point.best).at(-1);
      const row = document.createElement('tr');
      for (const text of [name, short(points.at(-1).y),
        name.startsWith('valid_') && best ? `${short(best.y)} (update ${best.entry.step})` : ''])
        row.append(Object.assign(document.createElement(row.childElementCount ? 'td' : 'th'), { textContent: text }));
      rows.push(row);
    }
  find('latest').replaceChildren(...rows);
}

/** What the server answers; its sentence is the error where it cannot. */
async function ask(path) {
  let answer;
  try { answer = await fetch(path); } catch { throw new Error('the server has ended'); }
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer;
}

async function readLog() {
  const answer = await ask(`log?from=${place}`);
  const begin = Number(answer.headers.get('X-From'));
  if (begin !== place) [entries, rest] = [[], ''];
  const text = await answer.text();
  place = Number(answer.headers.get('X-End'));
  const lines = (rest + text).split('\n');
  rest = lines.pop();
  const before = entries.length;
  for (const line of lines) {
    try { entries.push(JSON.parse(line)); } catch { /* half a line of a disk that was full */ }
  }
  return entries.length !== before || begin === 0;
}

async function readState() {
  const about = await (await ask('about')).json();
  find('title').textContent = document.title = about.model ? `${about.model}: ${about.folder}` : about.folder;
  const last = entries.at(-1);
  const parts = [about.live ? 'training' : 'not training now'];
  if (last) parts.push(`update ${last.step}, epoch ${last.epoch}`);
  if (about.memory) parts.push(`${(about.memory / 2 ** 20).toFixed(0)} MB of memory`);
  find('state').textContent = parts.join(' · ');
  const show = find('show');
  for (const name of about.shows)
    if (![...show.options].some((option) => option.value === name)) {
      show.append(new Option(name, name));
      if (show.options.length === 2) show.value = name;
    }
  // The first time that there are weights.
  if (about.model && !hasDecoded) {
    hasDecoded = true;
    decode();
  }
}

async function decode() {
  const status = find('about-samples');
  status.textContent = 'decoding ..';
  const found = await ask(`samples?show=${encodeURIComponent(find('show').value)}`)
    .then((answer) => answer.json(), (error) => ({ error: error.message }));
  status.textContent = found.error ?? 'with the best weights so far';
  find('samples').replaceChildren(...(found.examples ?? []).map((example) => {
    const list = document.createElement('dl');
    for (const [name, text] of Object.entries(example))
      list.append(Object.assign(document.createElement('dt'), { textContent: name }),
        Object.assign(document.createElement('dd'), { textContent: text }));
    return list;
  }));
  const image = new Image();
  image.alt = `${find('show').value} of each sample`;
  image.src = 'data:image/svg+xml,' + encodeURIComponent(found.picture ?? '');
  find('picture').replaceChildren(...(found.picture ? [image] : []));
}

async function follow() {
  try {
    const isNew = await readLog();
    await readState();
    if (isNew) drawAll();
  } catch (error) {
    find('state').textContent = error.message;
  }
  setTimeout(follow, 2000);
}

for (const id of ['scale', 'over', 'smooth'])
  find(id).addEventListener('input', () => {
    find('smoothed').textContent = find('smooth').value;
    drawAll();
  });
find('again').addEventListener('click', decode);
find('show').addEventListener('change', decode);
follow();
