// The report's page: it sorts tables, and browses samples.
//
// Text of others (outputs, samples, names of models) enters the page as text nodes, never as markup.
'use strict';

const $ = (id) => document.getElementById(id);

// --- Elements ------------------------------------------------------------------------------------

// Characters that act unseen, such as bidirectional controls.
const CONTROLS = /((?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}])/gu;

const codeOf = (char) => `U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
const plain = (text) => text.replace(CONTROLS, codeOf);

/** Return text as nodes, in which characters that act unseen stand out. */
function visible(text) {
  return String(text).split(CONTROLS).filter(Boolean).map((part) => (part.search(CONTROLS) < 0
    ? document.createTextNode(part)
    : el('span', { class: 'control', title: 'a character that is not seen' }, document.createTextNode(codeOf(part)))));
}

/** Make an element. Strings among its children become visible text; null and false are left out. */
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, plain(String(value)));
  }
  const shown = children.flat().filter((child) => child !== null && child !== undefined && child !== false);
  element.append(...shown.flatMap((child) => (typeof child === 'string' ? visible(child) : child)));
  return element;
}

function button(attributes, text, action) {
  const element = el('button', { type: 'button', ...attributes }, text);
  element.onclick = action;
  return element;
}

const spaced = (name) => name.replaceAll('_', ' ');
const plural = (count, name) => `${count.toLocaleString('en')} ${name}${count === 1 ? '' : 's'}`;
const joined = (parts) => parts.filter(Boolean).join(' · ');

// --- Tables that sort ----------------------------------------------------------------------------

const collator = new Intl.Collator('en', { numeric: true });

/** Sort a table by a column: numbers by `data-value`, words alphabetically, empty cells last. */
function sortTable(header) {
  const body = header.closest('table').tBodies[0];
  const isNumber = header.classList.contains('number');
  const sorted = header.getAttribute('aria-sort');
  const ascending = sorted === 'descending' || (sorted === null && !isNumber);
  for (const each of header.parentNode.children) each.removeAttribute('aria-sort');
  header.setAttribute('aria-sort', ascending ? 'ascending' : 'descending');
  const textOf = ({ dataset, textContent }) => dataset.value ?? textContent.trim();
  const compare = isNumber ? (a, b) => a - b : collator.compare;
  const rows = [...body.rows].map((row) => ({ row, text: textOf(row.cells[header.cellIndex]) }));
  rows.sort((a, b) => (a.text === '') - (b.text === '') || (ascending ? 1 : -1) * compare(a.text, b.text));
  body.append(...rows.map(({ row }) => row));
}

// --- Samples and runs ----------------------------------------------------------------------------
//
// They lie in the page as gzip in base64, `index.size` rows in a chunk, and are unpacked when they are
// looked at. The index, chunk 0, has what filters need of all samples (report/browser.py).

const MOST_UNPACKED = 128; // chunks
const AS_IS = 'as is';

let index; // tests, runs and faults
let rows; // columns of all outputs of all runs: run, place in it, faults, units, score

const unpacked = new Map();

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}

function unpack(number) {
  const packed = new Blob([bytesOf($(`chunk-${number}`).textContent)]);
  return new Response(packed.stream().pipeThrough(new DecompressionStream('gzip'))).json();
}

/** Return the content of a chunk; the ones used last stay unpacked. */
function chunk(number) {
  const content = unpacked.get(number) ?? unpack(number);
  unpacked.delete(number);
  unpacked.set(number, content);
  if (unpacked.size > MOST_UNPACKED) unpacked.delete(unpacked.keys().next().value);
  return content;
}

/** Read the index, and number the rows of the runs and the runs that would have the same name. */
async function readIndex() {
  index = await unpack(0);
  const total = index.runs.reduce((sum, run) => sum + run.faults.length, 0);
  rows = {
    run: new Uint16Array(total), place: new Uint32Array(total), faults: new Uint16Array(total),
    units: new Uint16Array(total), score: new Float32Array(total),
  };
  const copies = new Map();
  let row = 0;
  for (const [number, run] of index.runs.entries()) {
    const key = JSON.stringify([run.test, run.model, run.arm, run.seed]);
    copies.set(key, (copies.get(key) ?? 0) + 1);
    Object.assign(run, { first: row, copy: copies.get(key) });
    const { sizes } = testOf(run);
    for (let place = 0; place < run.faults.length; place += 1, row += 1) {
      rows.run[row] = number;
      rows.place[row] = place;
      rows.faults[row] = run.faults[place];
      rows.units[row] = sizes[run.samples ? run.samples[place] : place];
      rows.score[row] = run.scores[place] ?? NaN;
    }
  }
}

const testOf = (run) => index.tests[run.test];
const runOf = (row) => index.runs[rows.run[row]];

/** Return the number of a row's sample in its test set. */
function sampleOf(row) {
  const { samples } = runOf(row);
  return samples ? samples[rows.place[row]] : rows.place[row];
}

/** Return the row of a run with this sample, -1 without one. */
function rowIn(run, sample) {
  if (!run.samples) return sample < run.faults.length ? run.first + sample : -1;
  run.places ??= new Map(run.samples.map((number, place) => [number, place]));
  return run.places.has(sample) ? run.first + run.places.get(sample) : -1;
}

async function packedRow(first, number) {
  return (await chunk(first + Math.floor(number / index.size)))[number % index.size];
}

const outcomeOf = (row) => packedRow(runOf(row).chunk, rows.place[row]);
const recordOf = async (row) => decoded(await packedRow(testOf(runOf(row)).chunk, sampleOf(row)));

/** Return the sample of a document (`core/codec.py`), whose ragged fields are JSON texts. */
function decoded({ units, input_orders: orders, hidden, context, twin, ...doc }) {
  const parsed = (text) => text && JSON.parse(text);
  return {
    ...doc, units: parsed(units), orders: parsed(orders), hidden: parsed(hidden), context: parsed(context),
    twin: twin && decoded(JSON.parse(twin)),
  };
}

/** Return the arm and the seed of a run; a second run with the same has a number. */
function runName({ arm, seed, copy }) {
  return (arm ?? AS_IS) + (seed === null ? '' : `, seed ${seed}`) + (copy > 1 ? ` (${copy})` : '');
}

function format(score) {
  if (Number.isNaN(score)) return '–';
  return Number.isInteger(score) ? String(score) : score.toFixed(Math.abs(score) <= 1 ? 2 : 1);
}

// --- State: filters, the run beside, the sample chosen; the address keeps it ---------------------

const FINE = 'fine';
const DEFAULTS = {
  aspect: '', corpus: '', part: '', sets: '', model: '', arm: '', seed: '', category: '', predicate: '',
  units: '', kind: '', query: '', beside: 'arm', order: '', sample: '',
};
const FILTERS = Object.keys(DEFAULTS).filter((name) => !['beside', 'order', 'sample'].includes(name));
const state = { ...DEFAULTS };

let view = new Uint32Array(); // the rows found, in order
let chosen = -1; // the row that is shown
let matching = null; // of a search: 1 for each row that has the words
let beside = () => -1; // from a row to that of the run beside

// What filters compare of a run.
const FACETS = {
  aspect: { name: 'Aspect', value: (run) => spaced(testOf(run).aspect) },
  corpus: { name: 'Corpus', value: (run) => testOf(run).corpus },
  part: { name: 'Part', value: (run) => testOf(run).part ?? '' },
  sets: { name: 'Sets', value: (run) => testOf(run).sets },
  model: { name: 'Model', value: (run) => run.model },
  arm: { name: 'Arm', value: (run) => run.arm ?? AS_IS },
  seed: { name: 'Seed', value: (run) => (run.seed === null ? '' : String(run.seed)) },
};

// What filters compare of a sample: a value or several of each sample of a test set.
const TRAITS = {
  category: { name: 'Category', values: (test) => test.categories },
  units: { name: 'Units', values: (test) => test.sizes },
  predicate: { name: 'Predicate', values: (test) => test.predicates },
};

function hasTrait(row, trait) {
  return [TRAITS[trait].values(testOf(runOf(row)))[sampleOf(row)]].flat().some((value) => String(value) === state[trait]);
}

const ORDERS = {
  '': { name: 'as in files' },
  low: { name: 'lowest score', key: (row) => rows.score[row] },
  high: { name: 'highest score', key: (row) => -rows.score[row] },
  gap: { name: 'largest gap', key: (row) => -gap(row) },
  long: { name: 'most units', key: (row) => -rows.units[row] },
};

const BESIDE = { arm: 'the other arm', base: 'the model as it is', seed: 'the next seed', none: 'nothing' };

/** Return the run that stands beside a run, undefined for none. */
function besideOf(run, mode = state.beside) {
  const peers = index.runs.filter((each) => each !== run && each.test === run.test);
  const number = /^run (\d+)$/.exec(mode);
  if (number) return peers.find((each) => each === index.runs[number[1]]);
  const same = peers.filter((each) => each.model === run.model);
  if (mode === 'arm') {
    const others = same.filter((each) => each.arm !== run.arm && each.arm !== null);
    return others.find((each) => each.seed === run.seed) ?? others[0] ?? besideOf(run, 'base');
  }
  if (mode === 'base') return run.arm === null ? undefined : same.find((each) => each.arm === null);
  if (mode === 'seed') {
    const seeds = same.filter((each) => each.arm === run.arm);
    return seeds.find((each) => each.seed > run.seed) ?? seeds[0];
  }
  return undefined;
}

/** Return the distance of a sample's score from that of the output beside, NaN without one. */
function gap(row) {
  const other = beside(row);
  return other < 0 ? NaN : Math.abs(rows.score[row] - rows.score[other]);
}

function remember() {
  const changed = Object.entries(state).filter(([name, value]) => value !== DEFAULTS[name]);
  const [page] = location.href.split('#');
  // An anchor, such as #plots, stays until something is chosen.
  if (changed.length) history.replaceState(null, '', `${page}#${new URLSearchParams(changed)}`);
  else if (location.hash.includes('=')) history.replaceState(null, '', page);
}

function recall() {
  Object.assign(state, DEFAULTS);
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    if (name in DEFAULTS) state[name] = value;
  }
  const [run, place] = state.sample.split('.').map(Number);
  const wanted = index.runs[run];
  chosen = wanted && place < wanted.faults.length ? wanted.first + place : -1;
}

// --- Filters and search --------------------------------------------------------------------------

function isOfKind(faults, kind) {
  return !kind || (kind === FINE ? faults === 0 : (faults >> Number(kind)) & 1);
}

/** Set the rows found, and return a function from a kind of error to the number of its rows. */
function find() {
  const others = index.runs.map((run) => besideOf(run));
  beside = (row) => {
    const other = others[rows.run[row]];
    return other ? rowIn(other, sampleOf(row)) : -1;
  };
  const facets = Object.keys(FACETS).filter((facet) => state[facet]);
  const traits = Object.keys(TRAITS).filter((trait) => state[trait]);
  const sets = new Uint32Array(1 << index.faults.length); // rows by their set of faults
  const found = [];
  for (const run of index.runs) {
    if (!facets.every((facet) => FACETS[facet].value(run) === state[facet])) continue;
    for (let row = run.first; row < run.first + run.faults.length; row += 1) {
      if (matching && !matching[row]) continue;
      if (!traits.every((trait) => hasTrait(row, trait))) continue;
      sets[rows.faults[row]] += 1;
      if (isOfKind(rows.faults[row], state.kind)) found.push(row);
    }
  }
  const { key } = ORDERS[state.order];
  if (key) {
    const keys = new Float64Array(rows.run.length);
    for (const row of found) keys[row] = Number.isNaN(key(row)) ? Infinity : key(row);
    found.sort((a, b) => keys[a] - keys[b] || a - b);
  }
  view = Uint32Array.from(found);
  return (kind) => sets.reduce((sum, n, faults) => sum + (isOfKind(faults, kind) ? n : 0), 0);
}

function select(name, label, options) {
  const choices = options.map(([value, text]) => Object.assign(el('option', {}, text), { value }));
  const element = el('select', { id: `filter-${name}` }, ...choices);
  element.value = state[name];
  if (element.selectedIndex < 0) {
    element.selectedIndex = 0;
    state[name] = element.value;
  }
  element.onchange = () => { state[name] = element.value; refresh(); };
  return el('label', {}, label, element);
}

function buildFilters() {
  const parts = [];
  const add = (key, name, all, names) => {
    const values = [...new Set(names)].filter(Boolean);
    if (values.length > 1 || state[key]) parts.push(select(key, name, [['', all], ...values.map((value) => [value, value])]));
  };
  for (const [key, { name, value }] of Object.entries(FACETS)) add(key, name, 'all', index.runs.map(value));
  for (const [key, { name, values }] of Object.entries(TRAITS)) {
    const names = new Set(index.tests.flatMap(values).flat().filter((value) => value !== null).map(String));
    add(key, name, 'any', [...names].sort(collator.compare));
  }
  const runs = index.runs.map((run, number) => [
    `run ${number}`, joined([spaced(testOf(run).aspect), testOf(run).part, run.model, runName(run)]),
  ]);
  parts.push(select('beside', 'Beside', [...Object.entries(BESIDE), ...runs]));
  parts.push(select('order', 'Order', Object.entries(ORDERS).map(([value, { name }]) => [value, name])));
  $('facets').replaceChildren(...parts);
  const kinds = [
    ['', 'all', 'All samples'],
    [FINE, 'fine', 'Nothing is wrong'],
    ...index.faults.map(({ name, meaning }, bit) => [String(bit), name, meaning]),
  ];
  if (!kinds.some(([value]) => value === state.kind)) state.kind = '';
  $('kinds').replaceChildren(...kinds.map(([value, name, meaning]) => {
    const element = button({ title: meaning, 'data-kind': value }, name, () => { state.kind = value; refresh(); });
    element.append(el('span', { class: 'n' }));
    return element;
  }));
  $('query').value = state.query;
}

/** Apply the filters, and show what they leave. */
function refresh() {
  const counts = find();
  for (const each of $('kinds').children) {
    const n = counts(each.dataset.kind);
    each.setAttribute('aria-pressed', String(each.dataset.kind === state.kind));
    each.hidden = n === 0 && each.dataset.kind !== state.kind;
    each.lastChild.textContent = n.toLocaleString('en');
  }
  const [found, all] = [view.length, rows.run.length].map((n) => n.toLocaleString('en'));
  $('count').textContent = found === all ? `${all} samples` : `${found} of ${all} samples`;
  $('reset').hidden = FILTERS.every((name) => state[name] === DEFAULTS[name]);
  listed = -1;
  choose(view.includes(chosen) ? chosen : view[0] ?? -1);
}

const haystacks = new Map(); // lower-case texts by chunk, once a search has unpacked it

/** Return the searchable texts of rows that are packed from the chunk `first` on. */
async function textsOf(first, length, textsOfRow) {
  const parts = [];
  for (let number = first; number < first + length / index.size; number += 1) {
    if (!haystacks.has(number)) {
      haystacks.set(number, (await unpack(number)).map((row) => textsOfRow(row).join('\n').toLowerCase()));
    }
    parts.push(haystacks.get(number));
  }
  return parts.flat();
}

function sampleTexts(doc) {
  const { id, name, units, references, table } = decoded(doc);
  const lines = table ? table.rows.filter(Array.isArray).map((line) => line.map(({ text }) => text)) : [];
  return [
    id, name ?? '', ...units.map((unit) => spaced(unit.join(' '))), ...references,
    table?.title ?? '', ...lines.map((line) => line.join(' ')),
  ];
}

let searches = 0;

/** Mark the rows that have all words of the query, in the sample or in an output; then refresh. */
async function search() {
  searches += 1;
  const mine = searches;
  const words = state.query.toLowerCase().split(/\s+/).filter(Boolean);
  let found = null;
  if (words.length) {
    if (!haystacks.size) $('count').textContent = 'Unpacking…';
    found = new Uint8Array(rows.run.length);
    for (const [number, test] of index.tests.entries()) {
      const samples = await textsOf(test.chunk, test.sizes.length, sampleTexts);
      for (const run of index.runs.filter((each) => each.test === number)) {
        const outputs = await textsOf(run.chunk, run.faults.length, (row) => row.outputs.map(({ text }) => text));
        outputs.forEach((output, place) => {
          const sample = samples[run.samples ? run.samples[place] : place];
          found[run.first + place] = words.every((word) => output.includes(word) || sample.includes(word));
        });
      }
    }
  }
  if (mine !== searches) return; // another query came
  matching = found;
  refresh();
}

// --- The list, a page of samples at a time -------------------------------------------------------

const PAGE = 100;

let listed = -1; // the page in the list

function badges(row) {
  if (runOf(row).given) return []; // the model wrote nothing
  const found = index.faults.filter((_, bit) => (rows.faults[row] >> bit) & 1);
  if (!found.length) return [el('span', { class: 'fault fine' }, '✓ fine')];
  return found.map(({ name, meaning }) => el('span', { class: 'fault', title: meaning }, name));
}

function rowElement(row, position) {
  const run = runOf(row);
  const test = testOf(run);
  const title = joined([spaced(test.aspect), test.corpus, test.part, runName(run)]);
  const [first, ...others] = badges(row);
  const text = el('p', { class: 'text' }, '…');
  outcomeOf(row).then(({ outputs }) => text.replaceChildren(...visible(outputs[0].text.trim().slice(0, 200))));
  const element = el('div', {
    class: 'row', role: 'option', id: `row-${row}`, 'data-row': row,
    'aria-setsize': view.length, 'aria-posinset': position + 1,
  },
  el('div', { class: 'line' },
    el('span', { title }, title),
    el('span', { class: 'value', title: test.metric }, format(rows.score[row]))),
  el('div', { class: 'line' }, first, others.length > 0 && el('span', {}, `+${others.length}`),
    el('span', {}, plural(rows.units[row], 'unit'))),
  text);
  return element;
}

function showList(page) {
  listed = page;
  const first = page * PAGE;
  const shown = view.subarray(first, first + PAGE);
  $('list').replaceChildren(...Array.from(shown, (row, at) => rowElement(row, first + at)));
  $('pages').hidden = view.length <= PAGE;
  $('page').textContent = `${(first + 1).toLocaleString('en')}–${(first + shown.length).toLocaleString('en')}`;
  $('page-back').disabled = page === 0;
  $('page-on').disabled = first + PAGE >= view.length;
}

/** Choose a row, and show its page of the list and its sample. */
function choose(row, { scroll = false } = {}) {
  chosen = row;
  state.sample = row < 0 ? '' : `${rows.run[row]}.${rows.place[row]}`;
  const page = Math.max(0, Math.floor(view.indexOf(row) / PAGE));
  if (page !== listed) showList(page);
  for (const element of $('list').querySelectorAll('[aria-selected="true"]')) element.setAttribute('aria-selected', 'false');
  const element = $(`row-${row}`);
  $('list').setAttribute('aria-activedescendant', element?.id ?? '');
  if (element) {
    element.setAttribute('aria-selected', 'true');
    // Within the list alone: `scrollIntoView` would move the page too.
    const [top, bottom] = [element.offsetTop, element.offsetTop + element.offsetHeight];
    const list = $('list');
    list.scrollTop = Math.min(top, Math.max(list.scrollTop, bottom - list.clientHeight));
  }
  if (row < 0) $('sample').replaceChildren();
  else showSample(row, scroll);
  remember();
}

function step(by) {
  if (!view.length) return;
  const position = view.indexOf(chosen) + by;
  choose(view[Math.min(view.length - 1, Math.max(0, position))]);
}

// --- An output with its marks --------------------------------------------------------------------

const KINDS = {
  unit: { name: 'unit', sign: String, meaning: (number) => `unit ${number}` },
  'doubtful unit': {
    name: 'doubtful', sign: (number) => `${number}?`,
    meaning: (number) => `unit ${number}, in doubt: these are not its own words, or not all`,
  },
  phrase: { name: 'phrase', sign: () => '=', meaning: () => 'copies a phrase' },
  leak: { name: 'leak', sign: () => '!', meaning: () => 'leaks' },
  'inner leak': { name: 'inner', sign: () => '(!)', meaning: () => 'leaks inside a word, which counts as published' },
};

/** Return an output's text as nodes, with its marks. Indices count code points, as Python's do. */
function marked({ text, scored: [first, last], marks = [] }) {
  const points = Array.from(text);
  const piece = (start, end) => points.slice(start, end).join('');
  const unscored = (part) => (part.trim() ? [el('span', { class: 'unscored', title: 'Not scored' }, part)] : []);
  const nodes = unscored(piece(0, first));
  let at = first;
  for (const [place, { start, end, labels }] of marks.entries()) {
    nodes.push(piece(at, start));
    at = end;
    const kinds = labels.map(([kind]) => KINDS[kind].name);
    const units = labels.filter(([kind]) => kind.endsWith('unit')).map(([, number]) => number);
    const meaning = labels.map(([kind, number]) => KINDS[kind].meaning(number)).join('; ');
    const mark = el('mark', {
      class: [...new Set(kinds), ...units.slice(0, 1).map((number) => `hue${number % 8}`)].join(' '),
      title: meaning,
      'data-unit': units.join(' '),
    }, piece(start, end));
    const next = marks[place + 1];
    const goesOn = next && String(next.labels) === String(labels) && !piece(end, next.start).trim();
    if (!goesOn) {
      const signs = labels.map(([kind, number]) => KINDS[kind].sign(number)).join(' ');
      mark.append(el('sup', { 'aria-label': ` (${meaning})` }, signs));
    }
    nodes.push(mark);
  }
  return [...nodes, piece(at, last), ...unscored(piece(last))];
}

const notesOf = (notes = []) => notes.map((text) => el('p', { class: 'note' }, text));

function outputBlock(output) {
  return [
    output.purpose && el('p', { class: 'order' }, `Output for ${output.purpose}`),
    el('p', { class: 'output', dir: 'auto' }, output.text.trim() ? marked(output) : el('span', { class: 'none' }, 'no output')),
    ...notesOf(output.notes),
  ].filter(Boolean);
}

// --- Tables of a sample --------------------------------------------------------------------------

const SIDES = ['text', 'contrast']; // that a column may be linked to: of a sample, and of a pair the other one
const SIGNS = { expressed: '✓', missing: '✗', 'in doubt': '?', 'without words': '–', copied: '✓' };

const badge = (number) => el('span', { class: `id unit hue${number % 8}` }, String(number));

function card(title, ...content) {
  return el('section', { class: 'card' }, el('header', {}, el('h4', {}, title)), ...content);
}

function tableOf(heads, lines, kind = '') {
  return el('div', { class: 'scroll-x', tabindex: '0', role: 'region', 'aria-label': 'Table' },
    el('table', { class: `units ${kind}` }, heads.length > 0 && el('thead', {}, el('tr', {}, heads)), el('tbody', {}, lines)));
}

const verdictClass = (verdict) => (['missing', 'in doubt'].includes(verdict) ? 'no' : 'yes');

function verdictCell(verdict) {
  return el('td', { class: `verdict ${verdictClass(verdict)}` }, `${SIGNS[verdict]} `, el('span', { class: 'word' }, verdict));
}

/** Return a table of the input, with a column for each output. */
function inputTable(names, outputs, lines) {
  return tableOf([
    ...names.map((name) => el('th', { scope: 'col' }, name)),
    ...outputs.map(({ name, title }) => el('th', { scope: 'col', class: 'verdict', title }, name)),
  ], lines);
}

function unitTable({ units, table }, outputs) {
  const fields = units[0].length === 3 ? ['subject', 'predicate', 'object'] : table ? ['header', 'highlighted cell'] : ['attribute', 'value'];
  return inputTable(['unit', ...fields], outputs, units.map((unit, number) => el('tr', { 'data-unit': number },
    el('th', { scope: 'row' }, badge(number)),
    unit.map((part) => el('td', { dir: 'auto' }, spaced(part))),
    outputs.map(({ verdicts }) => verdictCell(verdicts[number])))));
}

function hiddenTable(hidden, outputs) {
  return inputTable(['shown phrase', 'hides'], outputs, hidden.map(([what, phrase], number) => el('tr', {},
    el('th', { scope: 'row' }, phrase),
    el('td', {}, what),
    outputs.map(({ phrases = [] }) => verdictCell(phrases.includes(number) ? 'missing' : 'copied')))));
}

/** Return a table, in which linked columns stand out, and highlighted cells say what the output does with them. */
function tableCard({ table, context = {} }, output) {
  const cellOf = (scope) => ({ text, header, columns, rows: height, units = [], sides = [] }) => {
    const signs = units.flatMap((number) => {
      const verdict = output?.verdicts[number];
      return [' ', badge(number), verdict && el('span', { class: `sign ${verdictClass(verdict)}`, title: verdict }, SIGNS[verdict], el('span', { class: 'visually-hidden' }, ` ${verdict}`))];
    });
    const names = header ? sides.map((side) => el('span', { class: 'side' }, ` ${SIDES[side]}`)) : [];
    const classes = [...sides.map((side) => `about-${side}`), ...(units.length ? ['highlighted', `hue${units[0] % 8}`] : [])];
    return el(header ? 'th' : 'td', {
      dir: 'auto', colspan: columns, rowspan: height, scope: header && scope, class: classes.join(' ') || null,
      'data-unit': units.length ? units.join(' ') : null,
    }, text, names, signs);
  };
  const lines = table.rows.map((line) => (Array.isArray(line)
    ? el('tr', {}, line.map(cellOf(line.every(({ header }) => header) ? 'col' : 'row')))
    : el('tr', {}, el('td', { class: 'left-out', colspan: 1000 }, `… ${plural(line, 'row')} not shown`))));
  const { section_text: about } = context;
  return card(table.title || 'Table', tableOf([], lines, 'cells'),
    ...(about ? [el('p', { class: 'note about-text', dir: 'auto' }, about)] : []));
}

// --- The sample chosen ---------------------------------------------------------------------------

function outputCard(row, { outputs, scores, notes }) {
  const run = runOf(row);
  const { metric } = testOf(run);
  const short = (name) => spaced(name.startsWith(`${metric}_`) ? name.slice(metric.length + 1) : name);
  const values = Object.entries(scores)
    .filter(([, value]) => value !== null)
    .sort(([a], [b]) => (b === metric) - (a === metric))
    .slice(0, 4)
    .map(([name, value]) => el('span', { title: name }, `${short(name)} `, el('b', {}, format(value))));
  return el('section', { class: 'card outputs', 'data-row': row, 'aria-label': `Output of ${run.model}, ${runName(run)}` },
    el('header', {}, el('h4', {}, `${run.model} · ${runName(run)}`), el('span', { class: 'values' }, values)),
    el('div', { class: 'inside' }, outputs.flatMap(outputBlock), notesOf(notes), el('p', { class: 'faults' }, badges(row))));
}

/** Return what the tables say of each output, under the name of its run. */
function columnsOf(rowsShown, outcomes) {
  return rowsShown.flatMap((row, place) => outcomes[place].outputs.map((output, number, { length }) => ({
    ...output,
    name: (rowsShown.length > 1 ? runName(runOf(row)) : 'here') + (length > 1 ? ` (${number + 1})` : ''),
    title: (place ? 'The output beside' : 'This output') + (output.purpose ? `, for ${output.purpose}` : ''),
  }))).filter(({ verdicts }) => verdicts);
}

function headOf(row, record) {
  const { aspect, corpus, part } = testOf(runOf(row));
  const position = view.indexOf(row);
  const about = [record.name, record.category, record.begins && `begins “${record.begins}”`].filter(Boolean);
  return el('div', { class: 'head' },
    button({ id: 'back' }, '← List', () => { $('list').focus(); $('list').parentNode.scrollIntoView(); }),
    el('h3', {}, joined([aspect[0].toUpperCase() + spaced(aspect.slice(1)), corpus, part])),
    el('span', { class: 'where' }, about.map((text) => `${text} · `), el('code', {}, record.id)),
    el('span', { class: 'go' },
      button({ id: 'previous', 'aria-label': 'Previous sample', disabled: position <= 0 }, '↑ k', () => step(-1)),
      button({ id: 'next', 'aria-label': 'Next sample', disabled: position >= view.length - 1 }, '↓ j', () => step(1))));
}

let shows = 0;

async function showSample(row, scroll) {
  shows += 1;
  const mine = shows;
  const other = beside(row);
  const rowsShown = other < 0 ? [row] : [row, other];
  const [record, ...outcomes] = await Promise.all([recordOf(row), ...rowsShown.map(outcomeOf)]);
  if (mine !== shows) return; // another was chosen meanwhile
  const { references, hidden, table, twin } = record;
  const outputs = columnsOf(rowsShown, outcomes);
  const prompts = outcomes[0].inputs ?? record.inputs;
  const listed = (texts) => el('ol', { class: 'inside references' }, texts.map((text) => el('li', { dir: 'auto' }, text)));
  $('sample').replaceChildren(
    headOf(row, record),
    ...(table ? [tableCard(record, outputs[0])] : []),
    ...(table?.linked ? [] : [card(table ? 'Highlighted cells' : 'Input', unitTable(record, outputs))]),
    ...(hidden?.length ? [card('Hidden phrases', hiddenTable(hidden, outputs))] : []),
    el('div', { class: 'pair' }, rowsShown.map((each, place) => outputCard(each, outcomes[place]))),
    ...(references.length ? [card(references.length > 1 ? 'References' : 'Reference', listed(references))] : []),
    ...(twin ? [card('Twin', unitTable(twin, []), listed(twin.references))] : []),
    ...prompts.map((text, number) => el('details', {},
      el('summary', {}, prompts.length > 1 ? `Prompt ${number + 1}` : 'Prompt'), el('p', { class: 'prompt' }, text))),
  );
  $('sample').dataset.shown = String(row);
  if (scroll && matchMedia('(max-width: 60rem)').matches) $('sample').scrollIntoView();
}

/** Light up a unit in the tables and in all outputs while it is pointed at. */
function lightUp(event) {
  const lit = event.target.closest?.('[data-unit]')?.dataset.unit.split(' ').filter(Boolean) ?? [];
  for (const each of $('sample').querySelectorAll('[data-unit]')) {
    each.classList.toggle('lit', each.dataset.unit.split(' ').some((unit) => lit.includes(unit)));
  }
}

// --- Keyboard and start --------------------------------------------------------------------------

function cycle(name, values) {
  state[name] = values[(values.indexOf(state[name]) + 1) % values.length];
  if ($(`filter-${name}`)) $(`filter-${name}`).value = state[name];
  refresh();
}

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  '/': () => $('query').focus(),
  e: () => cycle('kind', [...$('kinds').children].filter((each) => !each.hidden).map((each) => each.dataset.kind)),
  b: () => cycle('beside', Object.keys(BESIDE)),
  x: () => { if (chosen >= 0 && beside(chosen) >= 0) choose(beside(chosen)); },
  m: () => $('sample').classList.toggle('plain'),
};

const LIST_KEYS = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE, Home: -Infinity, End: Infinity };

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches('input, select')) {
    if (event.key === 'Escape' && event.target.id === 'query') $('list').focus();
    return;
  }
  if (event.target.id === 'list' && event.key in LIST_KEYS) step(LIST_KEYS[event.key]);
  else if (event.target.id === 'list' && event.key === 'Enter') $('sample').focus();
  else if (event.key in KEYS) KEYS[event.key]();
  else return;
  event.preventDefault();
}

/** Show what the address says. */
async function follow() {
  recall();
  buildFilters();
  await search();
}

async function startSamples() {
  if (!$('chunk-0')) return;
  await readIndex();
  $('samples-note').hidden = true;
  $('samples-app').hidden = false;
  if (matchMedia('(max-width: 40rem)').matches) $('more').open = false;
  await follow();
  let typing;
  $('query').oninput = () => {
    clearTimeout(typing);
    typing = setTimeout(() => { state.query = $('query').value; search(); }, 160);
  };
  $('filters').onsubmit = (event) => event.preventDefault();
  $('reset').onclick = () => {
    for (const name of FILTERS) state[name] = DEFAULTS[name];
    buildFilters();
    search();
  };
  $('list').onclick = (event) => {
    const row = event.target.closest('.row');
    if (row) choose(Number(row.dataset.row), { scroll: true });
  };
  $('page-back').onclick = () => choose(view[(listed - 1) * PAGE]);
  $('page-on').onclick = () => choose(view[(listed + 1) * PAGE]);
  $('sample').onpointerover = lightUp;
  $('sample').onpointerleave = lightUp;
  addEventListener('hashchange', () => location.hash.includes('=') && follow());
  addEventListener('keydown', onKey);
}

for (const each of document.querySelectorAll('thead button')) {
  each.onclick = () => sortTable(each.parentNode);
}
const started = startSamples().catch((error) => {
  $('samples-note').hidden = false;
  $('samples-note').textContent = `The samples cannot be unpacked: ${error.message}`;
});
