// What the report's page does: sort tables, change the theme, and browse samples.
//
// Whatever a model wrote enters the page as a text node (`el`, `visible`), never as markup. Samples
// lie in the page as gzip in base64, CHUNK of them at a time, and are unpacked when they are looked
// at; what filters need of all of them is in one chunk of its own, the index (report/page.py).
'use strict';

const $ = (id) => document.getElementById(id);

// Characters that act unseen, bidirectional controls for one.
const CONTROLS = /((?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}])/gu;

const codeOf = (char) => `U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

/** Return what is no element yet without characters that act unseen. */
const plain = (value) => (typeof value === 'string' ? value.replace(CONTROLS, codeOf) : value);

/** Make an element. Strings among its children become text nodes. */
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) made.setAttribute(name, value === true ? '' : plain(value));
  }
  made.append(...children.filter((child) => child !== null).map(plain));
  return made;
}

/** Return text as nodes, in which characters that act unseen stand out. */
function visible(text) {
  return text.split(CONTROLS).filter(Boolean).map((part) => (part.search(CONTROLS) < 0
    ? document.createTextNode(part)
    : el('span', { class: 'control', title: 'a character that is not seen' }, codeOf(part))));
}

// --- Theme -------------------------------------------------------------------------------------

const THEMES = ['auto', 'light', 'dark'];

function remembered() {
  try { return localStorage.getItem('spor-theme'); } catch { return null; }
}

function setTheme(theme) {
  const name = THEMES.includes(theme) ? theme : 'auto';
  document.documentElement.dataset.theme = name;
  $('theme').textContent = name[0].toUpperCase() + name.slice(1);
  try { localStorage.setItem('spor-theme', name); } catch { /* a page without storage forgets */ }
}

function nextTheme() {
  setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]);
}

// --- Tables that sort --------------------------------------------------------------------------

/** Sort a table's rows by a column: numbers by `data-value`, text as people do, empty cells last. */
function sortTable(header) {
  const table = header.closest('table');
  const column = [...header.parentNode.children].indexOf(header);
  const ascending = header.getAttribute('aria-sort') === 'descending'
    || (header.getAttribute('aria-sort') === null && !header.classList.contains('number'));
  for (const other of header.parentNode.children) other.removeAttribute('aria-sort');
  header.setAttribute('aria-sort', ascending ? 'ascending' : 'descending');
  const keyed = [...table.tBodies[0].rows].map((row) => {
    const cell = row.cells[column];
    const text = cell.dataset.value ?? cell.textContent.trim();
    return { row, text, number: header.classList.contains('number') ? parseFloat(text) : NaN };
  });
  const collator = new Intl.Collator('en', { numeric: true });
  const direction = ascending ? 1 : -1;
  keyed.sort((a, b) => {
    const empty = (a.text === '') - (b.text === '');
    if (empty) return empty;
    const byNumber = a.number - b.number;
    return direction * (Number.isNaN(byNumber) ? collator.compare(a.text, b.text) : byNumber);
  });
  table.tBodies[0].append(...keyed.map(({ row }) => row));
}

// --- Chunks ------------------------------------------------------------------------------------

const KEPT = 48; // chunks that stay unpacked

const unpacked = new Map();

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}

async function unpack(number) {
  const packed = new Blob([bytesOf($(`chunk-${number}`).textContent)]);
  const stream = packed.stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).json();
}

/** Return what is in a chunk; the ones used last stay unpacked. */
function chunk(number) {
  const found = unpacked.get(number) ?? unpack(number);
  unpacked.delete(number);
  unpacked.set(number, found);
  if (unpacked.size > KEPT) unpacked.delete(unpacked.keys().next().value);
  return found;
}

// --- The browser of samples --------------------------------------------------------------------

const ROW = 98; // pixels, as in page.css
const AS_IS = 'as is';
const FINE = 'fine';
const UNITS = { unit: true, doubtful: true };
const KIND = { u: 'unit', d: 'doubtful', p: 'phrase', l: 'leak', i: 'inner' };

let index; // tests, runs and faults; see report/page.py
let rows; // columns of all samples of all runs: run, place in it, faults, units, score
let view = new Uint32Array(); // the rows found, in order
let chosen = -1; // the row that is shown
let matching = null; // of a search: 1 for each row that has the words
const haystacks = new Map(); // texts in lower case by chunk, once something was sought

const state = {
  aspect: '', corpus: '', part: '', sets: '', model: '', arm: '', seed: '', units: '',
  kind: '', query: '', beside: 'arm', compared: '', order: '', sample: '',
};

const spaced = (name) => name.replaceAll('_', ' ');
const plural = (count, name) => `${count} ${name}${count === 1 ? '' : 's'}`;
const joined = (parts) => parts.filter(Boolean).join(' · ');
const testOf = (run) => index.tests[run.test];
const sampleOf = (row) => {
  const run = index.runs[rows.run[row]];
  return run.samples ? run.samples[rows.place[row]] : rows.place[row];
};

function columns() {
  const total = index.runs.reduce((sum, run) => sum + run.faults.length, 0);
  const made = {
    run: new Uint16Array(total), place: new Uint32Array(total), faults: new Uint16Array(total),
    units: new Uint16Array(total), score: new Float32Array(total),
  };
  let row = 0;
  index.runs.forEach((run, number) => {
    run.first = row;
    const { sizes } = testOf(run);
    for (let place = 0; place < run.faults.length; place += 1, row += 1) {
      made.run[row] = number;
      made.place[row] = place;
      made.faults[row] = run.faults[place];
      made.units[row] = sizes[run.samples ? run.samples[place] : place];
      made.score[row] = run.scores[place] ?? NaN;
    }
  });
  return made;
}

// A run tells of itself in the words that filters use.
const FACETS = {
  aspect: { name: 'Aspect', of: (run) => spaced(testOf(run).aspect) },
  corpus: { name: 'Corpus', of: (run) => testOf(run).corpus },
  part: { name: 'Part', of: (run) => testOf(run).part ?? '' },
  sets: { name: 'Sets', of: (run) => testOf(run).sets },
  model: { name: 'Model', of: (run) => run.model },
  arm: { name: 'Arm', of: (run) => run.arm ?? AS_IS },
  seed: { name: 'Seed', of: (run) => (run.seed === null ? '' : String(run.seed)) },
};

const BESIDE = {
  arm: 'the other arm',
  base: 'the model as it is',
  seed: 'the next seed',
  none: 'nothing',
};

const runName = ({ arm, seed }) => (arm ?? AS_IS) + (seed === null ? '' : `, seed ${seed}`);

/** Return the number of the run that a run is compared with, -1 for none. */
function besideOf(run, mode = state.beside) {
  const number = /^run (\d+)$/.exec(mode);
  const isPeer = (other) => other !== run && other.test === run.test;
  const peers = (wanted) => index.runs.findIndex((other) => isPeer(other) && wanted(other));
  if (number) {
    const other = index.runs[Number(number[1])];
    return other && isPeer(other) ? Number(number[1]) : -1;
  }
  const same = (other) => other.model === run.model;
  if (mode === 'arm') {
    const another = (other) => same(other) && other.arm !== run.arm && other.arm !== null;
    const seeded = peers((other) => another(other) && other.seed === run.seed);
    const found = seeded >= 0 ? seeded : peers(another);
    return found >= 0 ? found : besideOf(run, 'base');
  }
  if (mode === 'base') {
    const found = peers((other) => same(other) && other.arm === null);
    return found >= 0 || run.arm === null ? found : -1;
  }
  if (mode === 'seed') {
    const sisters = (other) => same(other) && other.arm === run.arm;
    const found = peers((other) => sisters(other) && other.seed > run.seed);
    return found >= 0 ? found : peers(sisters);
  }
  return -1;
}

/** Return, for each run, a function from its rows to those of the run beside, -1 for none. */
function besideRows() {
  const places = new Map(); // by run: where each sample stands in it
  const placesOf = (number) => {
    if (!places.has(number)) {
      const { samples, faults } = index.runs[number];
      const pairs = Array.from(faults, (_, place) => [samples ? samples[place] : place, place]);
      places.set(number, new Map(pairs));
    }
    return places.get(number);
  };
  const others = index.runs.map((run) => besideOf(run));
  return (row) => {
    const other = others[rows.run[row]];
    const place = other < 0 ? undefined : placesOf(other).get(sampleOf(row));
    return place === undefined ? -1 : index.runs[other].first + place;
  };
}

let beside = () => -1;

function isOfKind(faults, kind) {
  if (!kind) return true;
  return kind === FINE ? faults === 0 : (faults >> Number(kind)) & 1;
}

const COMPARED = {
  higher: { name: 'higher here', holds: (row, other) => rows.score[row] > rows.score[other] },
  lower: { name: 'lower here', holds: (row, other) => rows.score[row] < rows.score[other] },
  faults: { name: 'other errors', holds: (row, other) => rows.faults[row] !== rows.faults[other] },
};

/** Return how far a sample's score is from that of the output beside, NaN without one. */
function gap(row) {
  const other = beside(row);
  return other < 0 ? NaN : Math.abs(rows.score[row] - rows.score[other]);
}

const ORDERS = {
  '': { name: 'as in files' },
  low: { name: 'lowest score', key: (row) => rows.score[row] },
  high: { name: 'highest score', key: (row) => -rows.score[row] },
  gap: { name: 'largest gap', key: (row) => -gap(row) },
  long: { name: 'most units', key: (row) => -rows.units[row] },
};

/** Find the rows that the filters leave, and how many of each kind of error they leave. */
function find() {
  beside = besideRows();
  const wanted = Object.keys(FACETS).filter((facet) => state[facet]);
  const allowed = index.runs.map((run) => wanted.every((facet) => FACETS[facet].of(run) === state[facet]));
  const units = state.units === '' ? -1 : Number(state.units);
  const compared = COMPARED[state.compared];
  const counts = new Map([['', 0], [FINE, 0], ...index.faults.map((_, bit) => [String(bit), 0])]);
  const found = [];
  for (let row = 0; row < rows.run.length; row += 1) {
    if (!allowed[rows.run[row]] || (matching && !matching[row])) continue;
    if (units >= 0 && rows.units[row] !== units) continue;
    if (compared) {
      const other = beside(row);
      if (other < 0 || !compared.holds(row, other)) continue;
    }
    const faults = rows.faults[row];
    for (const kind of counts.keys()) {
      if (isOfKind(faults, kind)) counts.set(kind, counts.get(kind) + 1);
    }
    if (isOfKind(faults, state.kind)) found.push(row);
  }
  const { key } = ORDERS[state.order] ?? {};
  if (key) {
    const keys = new Map(found.map((row) => [row, key(row)]));
    const rank = (row) => (Number.isNaN(keys.get(row)) ? Infinity : keys.get(row));
    found.sort((a, b) => (rank(a) === rank(b) ? a - b : rank(a) - rank(b)));
  }
  view = Uint32Array.from(found);
  return counts;
}

// --- Search ------------------------------------------------------------------------------------

/** Return what a chunk of outputs, or of samples, can be found by: one text for each of its rows. */
async function haystack(number, textsOf) {
  if (!haystacks.has(number)) {
    haystacks.set(number, (await unpack(number)).map((row) => textsOf(row).join('\n').toLowerCase()));
  }
  return haystacks.get(number);
}

function sampleTexts(doc) {
  const { id, name, units, references } = decoded(doc);
  return [id, name ?? '', ...units.map((unit) => spaced(unit.join(' '))), ...references];
}

const outputTexts = ([outputs]) => outputs.map(([text]) => text);

async function gather(first, length, textsOf) {
  const parts = [];
  for (let done = 0, number = first; done < length; done += index.size, number += 1) {
    parts.push(await haystack(number, textsOf));
  }
  return parts.flat();
}

let searches = 0;

/** Mark the rows that have all words of the query, in the sample or in an output. */
async function search() {
  searches += 1;
  const mine = searches;
  const words = state.query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) {
    matching = null;
    refresh();
    return;
  }
  if (!haystacks.size) $('count').textContent = 'Unpacking…';
  const found = new Uint8Array(rows.run.length);
  for (const [number, test] of index.tests.entries()) {
    const samples = await gather(test.chunk, test.sizes.length, sampleTexts);
    for (const run of index.runs.filter((each) => each.test === number)) {
      const outputs = await gather(run.chunk, run.faults.length, outputTexts);
      if (mine !== searches) return; // another query came
      outputs.forEach((output, place) => {
        const sample = samples[run.samples ? run.samples[place] : place];
        found[run.first + place] = words.every((word) => output.includes(word) || sample.includes(word));
      });
    }
  }
  if (mine !== searches) return;
  matching = found;
  refresh();
}

/** Let the browser colour the query's words in the sample shown, where it can. */
function highlight() {
  if (!window.CSS?.highlights) return;
  CSS.highlights.delete('found');
  const words = state.query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return;
  const ranges = [];
  const walker = document.createTreeWalker($('sample'), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.data.toLowerCase();
    const searched = node.parentElement.closest('.output, .references, .units tbody');
    if (!searched || text.length !== node.data.length) continue;
    for (const word of words) {
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        ranges.push(range);
      }
    }
  }
  CSS.highlights.set('found', new Highlight(...ranges));
}

// --- The list: only the rows in sight exist ------------------------------------------------------

async function outputsOf(row) {
  const run = index.runs[rows.run[row]];
  const place = rows.place[row];
  return (await chunk(run.chunk + Math.floor(place / index.size)))[place % index.size];
}

async function sampleRecord(row) {
  const number = sampleOf(row);
  const { chunk: first } = testOf(index.runs[rows.run[row]]);
  return decoded((await chunk(first + Math.floor(number / index.size)))[number % index.size]);
}

/** Return the sample of a document (`core/codec.py`), whose ragged fields are JSON texts. */
function decoded({ units, input_orders: orders, hidden, ...doc }) {
  const parsed = (text) => text && JSON.parse(text);
  return { ...doc, units: parsed(units), orders: parsed(orders), hidden: parsed(hidden) };
}

function format(score) {
  if (Number.isNaN(score)) return '–';
  return Number.isInteger(score) ? String(score) : score.toFixed(Math.abs(score) <= 1 ? 2 : 1);
}

function badges(faults) {
  const found = index.faults.filter((_, bit) => (faults >> bit) & 1);
  if (!found.length) return [el('span', { class: 'fault fine' }, '✓ fine')];
  return found.map(([name, meaning]) => el('span', { class: 'fault', title: meaning }, name));
}

function rowElement(position) {
  const row = view[position];
  const run = index.runs[rows.run[row]];
  const test = testOf(run);
  const [first, ...others] = badges(rows.faults[row]);
  const title = joined([spaced(test.aspect), test.corpus, test.part, runName(run)]);
  const text = el('p', { class: 'text' });
  const made = el('div', {
    class: 'row waiting',
    role: 'option',
    id: `row-${row}`,
    'aria-selected': String(row === chosen),
    'aria-setsize': view.length,
    'aria-posinset': position + 1,
  },
  el('div', { class: 'line' },
    el('span', { title }, title),
    el('span', { class: 'value', title: test.metric }, format(rows.score[row]))),
  el('div', { class: 'line' },
    first,
    others.length ? el('span', {}, `+${others.length}`) : null,
    el('span', {}, plural(rows.units[row], 'unit'))),
  text);
  made.style.transform = `translateY(${position * ROW}px)`;
  made.dataset.row = row;
  outputsOf(row).then(([outputs]) => {
    text.append(...visible(outputs[0][0].trim().slice(0, 200)));
    made.classList.remove('waiting');
  });
  return made;
}

const shown = new Map(); // row elements by position

function paint() {
  const list = $('list');
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 4);
  const last = Math.min(view.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + 4);
  for (const [position, element] of shown) {
    if (position < first || position >= last) {
      element.remove();
      shown.delete(position);
    }
  }
  for (let position = first; position < last; position += 1) {
    if (!shown.has(position)) {
      const element = rowElement(position);
      shown.set(position, element);
      $('strip').append(element);
    }
  }
}

function repaint() {
  shown.forEach((element) => element.remove());
  shown.clear();
  $('strip').style.height = `${view.length * ROW}px`;
  $('list').style.setProperty('--rows', `${view.length * ROW + 2}px`);
  paint();
}

const positionOf = (row) => view.indexOf(row);

function reveal(position) {
  const list = $('list');
  const top = position * ROW;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
  paint();
}

function choose(row, { focus = false } = {}) {
  chosen = row;
  state.sample = row < 0 ? '' : `${rows.run[row]}.${rows.place[row]}`;
  for (const element of shown.values()) {
    element.setAttribute('aria-selected', String(Number(element.dataset.row) === row));
  }
  if (row < 0) {
    $('list').removeAttribute('aria-activedescendant');
    $('sample').replaceChildren();
  } else {
    const position = positionOf(row);
    if (position >= 0) reveal(position);
    $('list').setAttribute('aria-activedescendant', `row-${row}`);
    showSample(row, focus);
  }
  remember();
}

function step(by) {
  if (!view.length) return;
  const position = positionOf(chosen);
  const next = position < 0 ? 0 : Math.min(view.length - 1, Math.max(0, position + by));
  choose(view[next]);
}

// --- The sample chosen ---------------------------------------------------------------------------

const SIGNS = {
  unit: String, doubtful: (number) => `${number}?`, phrase: () => '=', leak: () => '!', inner: () => '(!)',
};

/** Return an output's text as nodes, with its marks. Indices count code points, as Python's do. */
function marked([text, scored, marks, , , leaks], hidden) {
  const meanings = {
    unit: (number) => `unit ${number}`,
    doubtful: (number) => `unit ${number}, in doubt: these are not its own words, or not all`,
    phrase: (number) => `copies ${hidden[number][1]}`,
    leak: (number) => `leaks ${leaks[number]}`,
    inner: (number) => `has ${leaks[number]} inside a word, which counts as published`,
  };
  const points = Array.from(text);
  const piece = (start, end) => points.slice(start, end).join('');
  const nodes = [];
  const unscored = (other) => {
    const title = 'Not scored';
    if (other.trim()) nodes.push(el('span', { class: 'unscored', title }, ...visible(other)));
  };
  const [first, last] = scored;
  let at = first;
  unscored(piece(0, first));
  marks.forEach(([start, end, labels], place) => {
    nodes.push(...visible(piece(at, start)));
    at = end;
    const named = labels.map((label) => [KIND[label[0]], Number(label.slice(1))]);
    const units = named.filter(([kind]) => kind in UNITS).map(([, number]) => number);
    const hues = units.slice(0, 1).map((number) => `hue${number % 8}`);
    const meaning = named.map(([kind, number]) => meanings[kind](number)).join('; ');
    const mark = el('mark', {
      class: [...new Set(named.map(([kind]) => kind)), ...hues].join(' '),
      title: meaning,
      'data-units': units.join(' '),
    }, ...visible(piece(start, end)));
    const [next, , others] = marks[place + 1] ?? [];
    const goesOn = String(others) === String(labels) && !piece(end, next).trim();
    if (!goesOn) {
      const signs = named.map(([kind, number]) => SIGNS[kind](number)).join(' ');
      mark.append(el('sup', { 'aria-label': ` (${meaning})` }, signs));
    }
    nodes.push(mark);
  });
  nodes.push(...visible(piece(at, last)));
  unscored(piece(last));
  return nodes;
}

function outputBlock(output, hidden) {
  const [text, , , units, phrases, leaks] = output;
  const nodes = text.trim() ? marked(output, hidden) : [el('span', { class: 'none' }, 'no output')];
  const copies = phrases.map((number) => hidden[number][1]);
  const said = [
    [`unit${units.length === 1 ? '' : 's'} not located: `, units],
    ['not copied: ', copies],
    ['leaked: ', leaks],
  ];
  return [
    el('p', { class: 'output', dir: 'auto' }, ...nodes),
    ...said.filter(([, which]) => which.length)
      .map(([what, which]) => el('p', { class: 'said' }, what, el('b', {}, ...visible(which.join(', '))))),
  ];
}

/** Return a box with a title. */
function card(title, ...content) {
  return el('section', { class: 'card' }, el('header', {}, el('h4', {}, title)), ...content);
}

function figures(values, main) {
  const short = (name) => spaced(name.startsWith(`${main}_`) ? name.slice(main.length + 1) : name);
  return Object.entries(values)
    .filter(([, value]) => value !== null)
    .sort(([a], [b]) => (b === main) - (a === main))
    .slice(0, 4)
    .map(([name, value]) => el('span', { title: name }, `${short(name)} `, el('b', {}, format(value))));
}

function outputCard(row, { hidden, orders }, [written, values]) {
  const run = index.runs[rows.run[row]];
  const inside = el('div', { class: 'inside' });
  written.forEach((output, number) => {
    if (orders && written.length > 1) {
      const order = orders[number].join(' ');
      inside.append(el('p', { class: 'order' }, `Output for input order ${order}`));
    }
    inside.append(...outputBlock(output, hidden ?? []));
  });
  inside.append(el('p', { class: 'faults said' }, ...badges(rows.faults[row])));
  const name = `Output of ${run.model}, ${runName(run)}`;
  return el('section', { class: 'card outputs', 'data-row': row, 'aria-label': name },
    el('header', {},
      el('h4', {}, ...visible(run.model), ` · ${runName(run)}`),
      el('span', { class: 'values' }, ...figures(values, testOf(run).metric))),
    inside);
}

const badge = (number) => el('span', { class: `id unit hue${number % 8}` }, String(number));

function told(kind, sign, word) {
  return el('td', { class: `told ${kind}` }, `${sign} `, el('span', { class: 'word' }, word));
}

/** Return a table of the input, with a column for each output. */
function inputTable(names, sides, body) {
  const head = el('tr', {},
    ...names.map((name) => el('th', { scope: 'col' }, name)),
    ...sides.map(({ name, title }) => el('th', { scope: 'col', class: 'told', title }, name)));
  return el('div', { class: 'scroll-x' },
    el('table', { class: 'units' }, el('thead', {}, head), el('tbody', {}, ...body)));
}

/** Return the table of units, which says of each output whether it tells them. */
function unitTable({ units }, sides) {
  const fields = units[0].length === 3 ? ['subject', 'predicate', 'object'] : ['attribute', 'value'];
  return inputTable(['unit', ...fields], sides, units.map((unit, number) => el('tr', { 'data-unit': number },
    el('th', { scope: 'row' }, badge(number)),
    ...unit.map((part) => el('td', { dir: 'auto' }, ...visible(spaced(part)))),
    ...sides.map(({ missing, doubtful }) => {
      if (missing.includes(number)) return told('no', '✗', 'missing');
      return doubtful.includes(number) ? told('no', '?', 'in doubt') : told('yes', '✓', 'told');
    }))));
}

/** Return the table of hidden phrases, which says of each output whether it copies them. */
function hiddenTable(hidden, sides) {
  return inputTable(['shown phrase', 'hides'], sides, hidden.map(([what, phrase], number) => el('tr', {},
    el('th', { scope: 'row' }, ...visible(phrase)),
    el('td', {}, ...visible(what)),
    ...sides.map(({ uncopied }) => (uncopied.includes(number)
      ? told('no', '✗', 'missing') : told('yes', '✓', 'copied'))))));
}

/** Return what the tables say of one output, under its run's name. */
function sideOf(row, output, number, { several, both, beside: isBeside }) {
  const inDoubt = output[2].flatMap(([, , labels]) => labels.filter((label) => label[0] === 'd'));
  return {
    name: (both ? runName(index.runs[rows.run[row]]) : 'here') + (several ? ` (${number + 1})` : ''),
    title: (isBeside ? 'The output beside' : 'This output') + (several ? `, input order ${number + 1}` : ''),
    missing: output[3],
    doubtful: inDoubt.map((label) => Number(label.slice(1))),
    uncopied: output[4],
  };
}

function headOf(row, record) {
  const test = testOf(index.runs[rows.run[row]]);
  const position = positionOf(row);
  const aspect = test.aspect[0].toUpperCase() + spaced(test.aspect.slice(1));
  const about = [record.name, record.category].filter(Boolean).map((text) => `${text} · `);
  const button = (id, label, text, disabled, action) => {
    const made = el('button', { type: 'button', id, 'aria-label': label, disabled }, text);
    made.onclick = action;
    return made;
  };
  const back = () => { $('list').focus(); $('filters').scrollIntoView(); };
  return el('div', { class: 'head' },
    button('back', null, '← List', false, back),
    el('h3', {}, joined([aspect, test.corpus, test.part])),
    el('span', { class: 'where' }, ...about.flatMap(visible), el('code', {}, record.id)),
    el('span', { class: 'go' },
      button('previous', 'Previous sample', '↑ k', position <= 0, () => step(-1)),
      button('next', 'Next sample', '↓ j', position >= view.length - 1, () => step(1))));
}

let shows = 0;

async function showSample(row, focus) {
  shows += 1;
  const mine = shows;
  const other = beside(row);
  const [record, outputs, others] = await Promise.all([
    sampleRecord(row), outputsOf(row), other < 0 ? null : outputsOf(other),
  ]);
  if (mine !== shows) return; // another was chosen meanwhile
  const { references, hidden, inputs } = record;
  const pairs = others ? [[row, outputs], [other, others]] : [[row, outputs]];
  const sides = pairs.flatMap(([each, [written]]) => {
    const shape = { several: written.length > 1, both: pairs.length > 1, beside: each === other };
    return written.map((output, number) => sideOf(each, output, number, shape));
  });
  const prompts = outputs[2] ?? inputs ?? [];
  const texts = references.map((text) => el('li', { dir: 'auto' }, ...visible(text)));
  const article = $('sample');
  article.replaceChildren(
    headOf(row, record),
    card('Input', unitTable(record, sides)),
    ...(hidden?.length ? [card('Hidden phrases', hiddenTable(hidden, sides))] : []),
    el('div', { class: 'pair' },
      ...pairs.map(([each, written]) => outputCard(each, record, written))),
    ...(texts.length ? [card(texts.length > 1 ? 'References' : 'Reference',
      el('div', { class: 'inside' }, el('ol', { class: 'references' }, ...texts)))] : []),
    ...prompts.map((text, number) => el('details', {},
      el('summary', {}, prompts.length > 1 ? `Prompt ${number + 1}` : 'Prompt'),
      el('p', { class: 'prompt' }, ...visible(text)))),
  );
  article.dataset.shown = String(row);
  highlight();
  if (focus && matchMedia('(max-width: 60rem)').matches) article.scrollIntoView();
}

/** Light up a unit in the table and in all outputs while it is pointed at. */
function lightUp(event) {
  const units = event.target.closest?.('[data-unit], mark[data-units]');
  const lit = units ? (units.dataset.unit ?? units.dataset.units).split(' ').filter(Boolean) : [];
  for (const row of $('sample').querySelectorAll('[data-unit]')) {
    row.classList.toggle('lit', lit.includes(row.dataset.unit));
  }
  for (const mark of $('sample').querySelectorAll('mark[data-units]')) {
    mark.classList.toggle('lit', mark.dataset.units.split(' ').some((unit) => lit.includes(unit)));
  }
}

// --- Filters -------------------------------------------------------------------------------------

function select(name, label, options) {
  const choices = options.map(([value, text]) => Object.assign(el('option', {}, text), { value }));
  const made = el('select', { id: `filter-${name}` }, ...choices);
  made.value = state[name];
  if (made.selectedIndex < 0) {
    made.selectedIndex = 0;
    state[name] = made.value;
  }
  made.onchange = () => { state[name] = made.value; refresh(); };
  return el('label', {}, label, made);
}

function buildFilters() {
  const parts = [];
  for (const [facet, { name, of }] of Object.entries(FACETS)) {
    const values = [...new Set(index.runs.map(of))].filter(Boolean);
    if (values.length > 1 || (values.length && facet === 'aspect')) {
      parts.push(select(facet, name, [['', 'all'], ...values.map((value) => [value, value])]));
    } else {
      state[facet] = '';
    }
  }
  const sizes = [...new Set(rows.units)].sort((a, b) => a - b);
  const same = sizes.map((size) => [String(size), String(size)]);
  parts.push(select('units', 'Units', [['', 'any number'], ...same]));
  const runs = index.runs.map((run, number) => [
    `run ${number}`, joined([spaced(testOf(run).aspect), testOf(run).part, run.model, runName(run)]),
  ]);
  const named = (choices) => Object.entries(choices).map(([value, { name }]) => [value, name]);
  parts.push(select('beside', 'Beside', [...Object.entries(BESIDE), ...runs]));
  parts.push(select('compared', 'Compared', [['', 'all'], ...named(COMPARED)]));
  parts.push(select('order', 'Order', named(ORDERS)));
  $('facets').replaceChildren(...parts);
  const kinds = [
    ['', 'all', 'All samples'],
    [FINE, 'fine', 'Nothing is wrong'],
    ...index.faults.map(([name, meaning], bit) => [String(bit), name, meaning]),
  ];
  if (!kinds.some(([value]) => value === state.kind)) state.kind = '';
  $('kinds').replaceChildren(...kinds.map(([value, name, meaning]) => {
    const counted = el('span', { class: 'n' });
    const button = el('button', { type: 'button', title: meaning, 'data-kind': value }, name, counted);
    button.onclick = () => { state.kind = value; refresh(); };
    return button;
  }));
  $('query').value = state.query;
}

function refresh() {
  const counts = find();
  for (const button of $('kinds').children) {
    const n = counts.get(button.dataset.kind);
    button.setAttribute('aria-pressed', String(button.dataset.kind === state.kind));
    button.disabled = n === 0 && button.dataset.kind !== state.kind;
    button.hidden = n === 0 && button.disabled;
    button.lastChild.textContent = n.toLocaleString('en');
  }
  const [found, all] = [view.length, rows.run.length].map((n) => n.toLocaleString('en'));
  $('count').textContent = found === all ? `${all} samples` : `${found} of ${all} samples`;
  $('reset').hidden = NARROWING.every((name) => state[name] === DEFAULTS[name]);
  $('list').scrollTop = 0;
  repaint();
  choose(positionOf(chosen) >= 0 ? chosen : view.length ? view[0] : -1);
}

function reset() {
  Object.assign(state, DEFAULTS, { beside: state.beside, order: state.order });
  matching = null;
  buildFilters();
  refresh();
}

// --- The address keeps the state -------------------------------------------------------------------

const DEFAULTS = { ...state };
const NARROWING = Object.keys(DEFAULTS).filter((name) => !['sample', 'beside', 'order'].includes(name));

function remember() {
  const changed = Object.entries(state).filter(([name, value]) => value !== DEFAULTS[name]);
  const hash = changed.length ? `#${new URLSearchParams(changed)}` : '';
  if (hash !== location.hash && (hash || location.hash.includes('='))) {
    history.replaceState(null, '', hash || location.pathname + location.search);
  }
}

function recall() {
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    if (name in state) state[name] = value;
  }
  const [run, place] = state.sample.split('.').map(Number);
  const wanted = index.runs[run];
  chosen = wanted && place < wanted.faults.length ? wanted.first + place : -1;
}

// --- Keyboard --------------------------------------------------------------------------------------

function cycle(name, values) {
  state[name] = values[(values.indexOf(state[name]) + 1) % values.length];
  const filter = $(`filter-${name}`);
  if (filter) filter.value = state[name];
  refresh();
}

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  '/': () => $('query').focus(),
  e: () => {
    const usable = [...$('kinds').children].filter((button) => !button.disabled);
    cycle('kind', usable.map((button) => button.dataset.kind));
  },
  b: () => cycle('beside', Object.keys(BESIDE)),
  x: () => {
    const other = beside(chosen);
    if (other >= 0) choose(other);
  },
  m: () => $('sample').classList.toggle('plain'),
};

const GLOBAL_KEYS = { t: nextTheme, '?': () => $('help').showModal() };

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $('help').open) return;
  if (event.target.matches('input, select, textarea')) {
    if (event.key === 'Escape' && event.target.id === 'query') $('list').focus();
    return;
  }
  const action = GLOBAL_KEYS[event.key] ?? (rows && KEYS[event.key]);
  if (action) {
    event.preventDefault();
    action();
  }
}

function onListKey(event) {
  const page = Math.max(1, Math.floor($('list').clientHeight / ROW) - 1);
  const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
  if (event.key in moves) {
    event.preventDefault();
    step(moves[event.key]);
  } else if (event.key === 'Enter') {
    $('sample').focus();
  }
}

// --- Start -----------------------------------------------------------------------------------------

async function startSamples() {
  const note = $('samples-note');
  if (!$('chunk-0')) {
    note.textContent = 'No samples lie beside these results. To browse them here, evaluate with --log_samples.';
    return;
  }
  if (!('DecompressionStream' in window)) {
    note.textContent = 'This browser cannot unpack the samples; one of 2023 or later can.';
    return;
  }
  index = await unpack(0);
  rows = columns();
  recall();
  note.hidden = true;
  $('samples-app').hidden = false;
  if (matchMedia('(max-width: 40rem)').matches) $('more').open = false;
  buildFilters();
  if (state.query) await search();
  else refresh();

  let typing;
  $('query').oninput = () => {
    clearTimeout(typing);
    typing = setTimeout(() => { state.query = $('query').value; search(); }, 160);
  };
  $('filters').onsubmit = (event) => event.preventDefault();
  $('reset').onclick = reset;
  $('list').onscroll = paint;
  $('list').onkeydown = onListKey;
  $('strip').onclick = (event) => {
    const row = event.target.closest('.row');
    if (row) choose(Number(row.dataset.row), { focus: true });
  };
  $('sample').onpointerover = lightUp;
  $('sample').onpointerleave = lightUp;
  addEventListener('resize', paint);
}

setTheme(remembered());
$('theme').onclick = nextTheme;
$('keys').onclick = () => $('help').showModal();
addEventListener('keydown', onKey);
for (const button of document.querySelectorAll('thead button')) {
  button.onclick = () => sortTable(button.parentNode);
}
const started = startSamples().catch((error) => {
  $('samples-note').hidden = false;
  $('samples-note').textContent = `The samples cannot be unpacked: ${error.message}`;
});
