// Tables that sort, and the list of samples with its filters; `sample.js` shows one sample.
//
// Text of others (outputs, samples, names of models) enters the page as text nodes, never as markup.

const $ = (id) => document.getElementById(id);

// --- Elements ------------------------------------------------------------------------------------

// Characters that act unseen, such as bidirectional controls.
const CONTROLS = /((?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}])/gu;

const codeOf = (char) => `U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

/** Return text as nodes, in which characters that act unseen stand out. */
function visible(text) {
  return text.split(CONTROLS).filter(Boolean).map((part) => (part.search(CONTROLS) < 0
    ? document.createTextNode(part)
    : el('span', { class: 'control', title: 'a character that is not seen' }, codeOf(part))));
}

/** Make an element. Strings among its children become visible text; what is empty or false is left out. */
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element[name] = value;
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value).replace(CONTROLS, codeOf));
  }
  element.append(...children.flat().filter(Boolean).flatMap((child) => (typeof child === 'string' ? visible(child) : child)));
  return element;
}

const joined = (...parts) => parts.filter(Boolean).join(' · ');
const spaced = (name) => name.replaceAll('_', ' ');
const counted = (number) => number.toLocaleString('en');
const plural = (number, name) => `${counted(number)} ${name}${number === 1 ? '' : 's'}`;

function format(score) {
  if (Number.isNaN(score)) return '–';
  return Number.isInteger(score) ? String(score) : score.toFixed(Math.abs(score) <= 1 ? 2 : 1);
}

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
  const lines = [...body.rows].map((line) => ({ line, text: textOf(line.cells[header.cellIndex]) }));
  lines.sort((a, b) => (a.text === '') - (b.text === '') || (ascending ? 1 : -1) * compare(a.text, b.text));
  body.append(...lines.map(({ line }) => line));
}

// --- Samples and runs ----------------------------------------------------------------------------
//
// They lie in the page as gzip in base64, `index.size` rows in a chunk, and are unpacked when they are
// looked at. The index, chunk 0, has what filters need of all samples (report/browser.py).

let index; // tests with their runs, kinds of error and of marks
let runs; // of all tests, each with its row of each sample
let rows; // one for each output, with the values that filters compare
let listable; // those of them that the list may have: not of the system that others are compared with
let filters; // the names of these values
let varied; // those of tests and models, if there are several

const unpacked = new Map();

function unpack(number) {
  const text = $(`chunk-${number}`).textContent;
  const bytes = Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).json();
}

/** Return a packed row of a test or a run; its chunk stays unpacked. */
async function packed({ chunks }, place) {
  const number = chunks[Math.floor(place / index.size)];
  if (!unpacked.has(number)) unpacked.set(number, unpack(number));
  return (await unpacked.get(number))[place % index.size];
}

const outcomeOf = ({ run, place }) => packed(run, place);

/** Read the index, make the rows of all runs, and let runs find their row of a sample. */
async function readIndex() {
  index = await unpack(0);
  runs = index.tests.flatMap((test) => test.runs.map((run) => Object.assign(run, { test, ofSample: [] })));
  rows = runs.flatMap((run) => run.samples.map((sample, place) => ({
    run,
    place,
    sample,
    faults: run.faults[place],
    score: run.scores[place] ?? NaN,
    values: { ...run.facets, ...run.test.traits[sample] },
  })));
  rows.forEach((row, number) => {
    row.number = number;
    row.run.ofSample[row.sample] = row;
  });
  listable = rows.filter(({ run }) => !index.isPair || run !== run.test.runs[0]);
  if (index.isPair) comparePairs();
  filters = Object.keys(rows[0].values);
  varied = ['model', 'test'].filter((name) => new Set(runs.map(({ facets }) => facets[name])).size > 1);
}

// --- State: the form has the filters and the sample chosen, and the address keeps them -----------

/** Put the documents first that two systems differ most on. */
function comparePairs() {
  const change = (row) => Math.abs(row.score - (beside(row)?.score ?? NaN)) || (row.faults ? 1e-9 : 0);
  ORDERS.file = ORDERS[''];
  ORDERS[''] = { name: 'largest difference', key: (row) => -change(row) };
  BESIDE[''] = 'the first system';
  for (const key of ['gap', 'long']) delete ORDERS[key];
  for (const key of ['base', 'seed']) delete BESIDE[key];
}

const FINE = 'fine';
const AS_IS = 'as is';
const BESIDE = { '': 'the other arm', base: 'the model as it is', seed: 'the next seed', none: 'nothing' };
const ORDERS = {
  '': { name: 'as in files' },
  low: { name: 'lowest score', key: (row) => row.score },
  high: { name: 'highest score', key: (row) => -row.score },
  gap: { name: 'largest gap', key: (row) => -Math.abs(row.score - (beside(row)?.score ?? NaN)) },
  long: { name: 'most units', key: (row) => -row.values.units },
};

const form = $('samples-app');
let state; // the values of the form by name; a filter that is not set is empty
let view = []; // the rows found, in order
let chosen; // the row that is shown

const beside = (row) => row.run.beside?.ofSample[row.sample];

/** Return the run that stands beside a run, undefined for none. */
function runBeside(run, mode) {
  const { model, arm, seed } = run.facets;
  const peers = runs.filter((each) => each !== run && each.test === run.test);
  if (index.isPair && mode === '') return peers[0];
  const same = peers.filter(({ facets }) => facets.model === model);
  if (mode === '') {
    const others = same.filter(({ facets }) => ![arm, AS_IS].includes(facets.arm));
    return others.find(({ facets }) => facets.seed === seed) ?? others[0] ?? runBeside(run, 'base');
  }
  if (mode === 'base') return arm === AS_IS ? undefined : same.find(({ facets }) => facets.arm === AS_IS);
  if (mode === 'seed') {
    const seeds = same.filter(({ facets }) => facets.arm === arm);
    return seeds.find(({ facets }) => Number(facets.seed) > Number(seed)) ?? seeds[0];
  }
  return peers.find((each) => `run ${runs.indexOf(each)}` === mode);
}

/** Set the form as the address says, and show what it leaves. */
function followAddress() {
  form.reset();
  state = Object.fromEntries(new FormData(form));
  const address = new URLSearchParams(location.hash.slice(1));
  for (const [name, value] of address) {
    if (name in state) form.elements[name].value = value;
  }
  for (const select of form.querySelectorAll('select')) select.selectedIndex = Math.max(0, select.selectedIndex);
  chosen = rows[address.get('sample')];
  return refresh();
}

// --- Filters and search --------------------------------------------------------------------------

const isOfKind = ({ faults }, kind) => !kind || (kind === FINE ? faults === 0 : (faults >> Number(kind)) & 1);

/** Set the rows found, and return those of all kinds of error. */
function find() {
  for (const run of runs) run.beside = runBeside(run, state.beside);
  const active = filters.filter((name) => state[name]);
  const words = wordsOf(state.query);
  const found = listable.filter((row) => active.every((name) => [row.values[name]].flat().map(String).includes(state[name]))
    && words.every((word) => hasWord(row, word)));
  view = found.filter((row) => isOfKind(row, state.kind));
  const { key } = ORDERS[state.order];
  if (key) {
    for (const row of view) row.key = Number.isNaN(key(row)) ? Infinity : key(row);
    view.sort((a, b) => a.key - b.key);
  }
  return found;
}

/** Return a menu of values and their names, the first of which is its default. */
function menu(name, label, options) {
  const choices = options.map(([value, text]) => Object.assign(el('option', {}, text), { value }));
  return el('label', {}, label, el('select', { name, id: `filter-${name}` }, choices));
}

function buildFilters() {
  const menus = [];
  for (const name of filters) {
    const values = [...new Set(listable.flatMap((row) => row.values[name]))].filter(Boolean).map(String);
    if (!(name in runs[0].facets)) values.sort(collator.compare);
    const choices = [['', 'all'], ...values.map((value) => [value, value])];
    if (values.length > 1) menus.push(menu(name, name[0].toUpperCase() + name.slice(1), choices));
  }
  const names = runs.map((run, number) => [`run ${number}`, joined(run.test.title, run.facets.model, run.name)]);
  $('comparing').replaceChildren(menu('beside', 'Compare with', [...Object.entries(BESIDE), ...names]));
  $('ordering').replaceChildren(menu('order', 'Order', Object.entries(ORDERS).map(([value, { name }]) => [value, name])));
  $('facets').replaceChildren(...menus);
  const kinds = [['', 'all', index.tested], [FINE, index.fine.name, index.fine.meaning],
    ...index.faults.map(({ name, meaning }, bit) => [String(bit), name, meaning])];
  $('kinds').replaceChildren(...kinds.map(([value, name, title]) => el('label', { title },
    el('input', { type: 'radio', name: 'kind', value, checked: value === '' }), name, el('span', { class: 'n' }))));
}

/** Apply the form, and show what it leaves. */
async function refresh() {
  if (wordsOf($('query').value).length) await readTexts();
  state = Object.fromEntries(new FormData(form));
  const found = find();
  for (const label of $('kinds').children) {
    const kind = label.firstChild.value;
    const n = found.filter((row) => isOfKind(row, kind)).length;
    label.hidden = n === 0 && kind !== state.kind;
    label.lastChild.textContent = counted(n);
    if (kind === state.kind) $('meaning').textContent = label.title;
  }
  $('count').textContent = `${view.length < listable.length ? `${counted(view.length)} of ` : ''}${counted(listable.length)} samples`;
  $('clear').hidden = Object.entries(state).every(([name, value]) => !value || name === 'sample');
  listed = -1;
  choose(view.includes(chosen) ? chosen : view[0]);
}

const wordsOf = (query) => query.toLowerCase().split(/\s+/).filter(Boolean);

function sampleText({ id, about, units, references, table, fields = [] }) {
  const lines = table?.rows.filter(Array.isArray).map((line) => line.map(({ text }) => text).join(' ')) ?? [];
  return [id, ...about, ...units.map((unit) => spaced(unit.join(' '))), ...references, ...fields.map(([, text]) => text), table?.title, ...lines].join('\n').toLowerCase();
}

const outputText = ({ outputs }) => outputs.map(({ marked }) => marked.output).join('\n').toLowerCase();

/** Unpack the texts of all samples and outputs for a search, once. */
async function readTexts() {
  for (const each of [...index.tests, ...runs]) {
    each.texts ??= (await Promise.all(each.chunks.map(unpack))).flat().map(each.test ? outputText : sampleText);
  }
}

const hasWord = ({ run, place, sample }, word) => [run.texts[place], run.test.texts[sample]].some((text) => text.includes(word));

// --- The list, a page of samples at a time -------------------------------------------------------

const PAGE = 100;

let listed = -1; // the page in the list

/** Return the kinds of error of a row; none where the model wrote nothing. */
function badges({ faults, run }) {
  if (faults === null) return [];
  if (faults === 0) return [el('span', { class: 'fault fine' }, `✓ ${run.faultless}`)];
  const found = index.faults.filter((_, bit) => (faults >> bit) & 1);
  return found.map(({ name, meaning, change }) => el('span', { class: `fault ${change ? 'change' : ''}`, title: meaning }, name));
}

function rowElement(row) {
  const { run, number, score, values } = row;
  const title = joined(run.name, ...varied.map((facet) => run.facets[facet]));
  const [first, ...others] = badges(row);
  const text = el('p', { class: 'text' }, '…');
  outcomeOf(row).then(({ outputs: [{ marked }] }) => text.replaceChildren(...visible(marked.output.trim().slice(0, 200))));
  return el('label', { class: 'row' },
    el('input', { type: 'radio', name: 'sample', id: `row-${number}`, value: number }),
    el('div', { class: 'line' },
      el('span', { title }, title),
      el('span', { class: 'value', title: run.test.labels[run.test.metric] }, format(score))),
    el('div', { class: 'line' }, first, others.length && el('span', {}, `+${others.length}`),
      values.units > 0 && el('span', {}, plural(values.units, 'unit'))),
    text);
}

function showList(page) {
  listed = page;
  const first = page * PAGE;
  const shown = view.slice(first, first + PAGE);
  $('list').replaceChildren(...shown.map(rowElement));
  $('pages').hidden = view.length <= PAGE;
  $('page').textContent = `${counted(first + 1)}–${counted(first + shown.length)}`;
  $('page-back').disabled = page === 0;
  $('page-on').disabled = first + PAGE >= view.length;
}

/** Choose a row, undefined for none, and show its page of the list and its sample. */
function choose(row, { scroll = false } = {}) {
  chosen = row;
  const hasFocus = $('list').contains(document.activeElement);
  const page = Math.max(0, Math.floor(view.indexOf(row) / PAGE));
  if (page !== listed) showList(page);
  if (row) {
    const radio = $(`row-${row.number}`);
    radio.checked = true;
    if (hasFocus) radio.focus({ preventScroll: true });
    // Within the list alone: `scrollIntoView` would move the page too.
    const { offsetTop: top, offsetHeight: height } = radio.parentNode;
    const { scrollTop, clientHeight } = $('list');
    $('list').scrollTop = Math.min(top, Math.max(scrollTop, top + height - clientHeight));
    showSample(row, scroll);
  } else {
    $('sample').replaceChildren();
  }
  const changed = [...new FormData(form)].filter(([, value]) => value);
  history.replaceState(null, '', `#${new URLSearchParams(changed)}`);
}

function step(by) {
  const position = view.indexOf(chosen) + by;
  if (view.length) choose(view[Math.min(view.length - 1, Math.max(0, position))]);
}

// --- Keyboard and start --------------------------------------------------------------------------

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  '/': () => $('query').focus(),
  m: () => $('sample').classList.toggle('plain'),
};

function onKey(event) {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (target === $('query')) {
    if (key === 'Escape') {
      target.blur();
      target.value = ''; // the browser empties it too, but without an event
      refresh();
    }
  } else if (key in KEYS && target.tagName !== 'SELECT') {
    event.preventDefault();
    KEYS[key]();
  }
}

async function startSamples() {
  if (!$('chunk-0')) return;
  await readIndex();
  buildFilters();
  $('samples-note').hidden = true;
  form.hidden = false;
  let typing;
  form.oninput = ({ target }) => {
    clearTimeout(typing);
    if (target.name === 'sample') choose(rows[target.value], { scroll: true });
    else if (target.name === 'query') typing = setTimeout(refresh, 160);
    else refresh();
  };
  $('clear').onclick = () => { form.reset(); refresh(); };
  $('page-back').onclick = () => choose(view[(listed - 1) * PAGE]);
  $('page-on').onclick = () => choose(view[(listed + 1) * PAGE]);
  $('sample').onpointerover = lightUp;
  $('sample').onpointerleave = lightUp;
  addEventListener('hashchange', () => location.hash.includes('=') && followAddress());
  addEventListener('keydown', onKey);
  await followAddress();
}

for (const each of document.querySelectorAll('thead button')) {
  each.onclick = () => sortTable(each.parentNode);
}
const started = startSamples().catch((error) => {
  $('samples-note').hidden = false;
  $('samples-note').textContent = `The samples cannot be unpacked: ${error.message}`;
});
