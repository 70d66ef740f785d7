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
let runs; // of all tests, each with its rows
let rows; // one for each output: { number, run, place, sample, faults, score, units }
let filters; // the names of facets, which runs have, and traits, which samples have

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
  runs = index.tests.flatMap((test) => test.runs.map((run) => Object.assign(run, { test })));
  for (const run of runs) {
    run.rows = run.samples.map((sample, place) => ({
      run,
      place,
      sample,
      faults: run.faults[place],
      score: run.scores[place] ?? NaN,
      units: run.test.traits.units[sample],
    }));
    run.ofSample = [];
    for (const row of run.rows) run.ofSample[row.sample] = row;
  }
  rows = runs.flatMap((run) => run.rows);
  rows.forEach((row, number) => { row.number = number; });
  filters = [...Object.keys(runs[0].facets), ...Object.keys(index.tests[0].traits)];
}

// --- State: filters, the run beside, the sample chosen; the address keeps it ---------------------

const FINE = 'fine';
const AS_IS = 'as is';
const DEFAULTS = { kind: '', query: '', beside: 'arm', order: '', sample: '' };
const BESIDE = { arm: 'the other arm', base: 'the model as it is', seed: 'the next seed', none: 'nothing' };
const ORDERS = {
  '': { name: 'as in files' },
  low: { name: 'lowest score', key: (row) => row.score },
  high: { name: 'highest score', key: (row) => -row.score },
  gap: { name: 'largest gap', key: (row) => -Math.abs(row.score - (beside(row)?.score ?? NaN)) },
  long: { name: 'most units', key: (row) => -row.units },
};

let state; // by name; a filter that is not set is empty
let view = []; // the rows found, in order
let chosen; // the row that is shown
let matching = null; // the rows that have the words of a search

const beside = (row) => row.run.beside?.ofSample[row.sample];

/** Return the run that stands beside a run, undefined for none. */
function runBeside(run, mode = state.beside) {
  const { model, arm, seed } = run.facets;
  const peers = runs.filter((each) => each !== run && each.test === run.test);
  const same = peers.filter(({ facets }) => facets.model === model);
  if (mode === 'arm') {
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

function remember() {
  const changed = Object.entries(state).filter(([name, value]) => value !== (DEFAULTS[name] ?? ''));
  const [page] = location.href.split('#');
  // An anchor, such as #plots, stays until something is chosen.
  if (changed.length) history.replaceState(null, '', `${page}#${new URLSearchParams(changed)}`);
  else if (location.hash.includes('=')) history.replaceState(null, '', page);
}

/** Read the state from the address. */
function recall() {
  state = { ...Object.fromEntries(filters.map((name) => [name, ''])), ...DEFAULTS };
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    if (name in state) state[name] = value;
  }
  const [run, place] = state.sample.split('.');
  chosen = runs[run]?.rows[place];
}

// --- Filters and search --------------------------------------------------------------------------

/** Return what a filter compares of a row: a value, or several. */
function valuesOf({ run, sample }, filter) {
  return filter in run.facets ? run.facets[filter] : run.test.traits[filter][sample];
}

function isOfKind({ faults }, kind) {
  return !kind || (kind === FINE ? faults === 0 : (faults >> Number(kind)) & 1);
}

/** Set the rows found, and return those of all kinds of error. */
function find() {
  for (const run of runs) run.beside = runBeside(run);
  const active = filters.filter((name) => state[name]);
  const found = rows.filter((row) => (!matching || matching.has(row))
    && active.every((name) => [valuesOf(row, name)].flat().map(String).includes(state[name])));
  view = found.filter((row) => isOfKind(row, state.kind));
  const { key } = ORDERS[state.order];
  if (key) {
    for (const row of view) row.key = Number.isNaN(key(row)) ? Infinity : key(row);
    view.sort((a, b) => a.key - b.key);
  }
  return found;
}

/** Return a menu of values and their names, for a part of the state. */
function menu(name, label, options) {
  const choices = options.map(([value, text]) => Object.assign(el('option', {}, text), { value }));
  const onchange = ({ target }) => { state[name] = target.value; refresh(); };
  const select = el('select', { id: `filter-${name}`, onchange }, choices);
  select.selectedIndex = Math.max(0, options.findIndex(([value]) => value === state[name]));
  state[name] = select.value;
  return el('label', {}, label, select);
}

function buildFilters() {
  const titled = (name) => name[0].toUpperCase() + name.slice(1);
  const menus = filters.flatMap((name) => {
    const all = name in runs[0].facets ? runs.map(({ facets }) => facets[name]) : index.tests.flatMap(({ traits }) => traits[name]);
    const values = [...new Set(all.flat())].filter(Boolean).map(String);
    if (!(name in runs[0].facets)) values.sort(collator.compare);
    return values.length > 1 || state[name] ? [menu(name, titled(name), [['', 'all'], ...values.map((value) => [value, value])])] : [];
  });
  const names = runs.map((run, number) => [`run ${number}`, joined(run.test.title, run.facets.model, run.name)]);
  menus.push(menu('beside', 'Beside', [...Object.entries(BESIDE), ...names]));
  menus.push(menu('order', 'Order', Object.entries(ORDERS).map(([value, { name }]) => [value, name])));
  $('facets').replaceChildren(...menus);
  const kinds = [['', 'all', 'All samples'], [FINE, 'fine', 'Nothing is wrong'],
    ...index.faults.map(({ name, meaning }, bit) => [String(bit), name, meaning])];
  if (!kinds.some(([value]) => value === state.kind)) state.kind = '';
  $('kinds').replaceChildren(...kinds.map(([value, name, title]) => el('button', {
    type: 'button', title, 'data-kind': value, onclick: () => { state.kind = value; refresh(); },
  }, name, el('span', { class: 'n' }))));
  $('query').value = state.query;
}

/** Apply the filters, and show what they leave. */
function refresh() {
  const found = find();
  for (const each of $('kinds').children) {
    const { kind } = each.dataset;
    const n = found.filter((row) => isOfKind(row, kind)).length;
    each.setAttribute('aria-pressed', String(kind === state.kind));
    each.hidden = n === 0 && kind !== state.kind;
    each.lastChild.textContent = counted(n);
  }
  $('count').textContent = `${view.length < rows.length ? `${counted(view.length)} of ` : ''}${counted(rows.length)} samples`;
  $('reset').hidden = [...filters, 'kind', 'query'].every((name) => !state[name]);
  listed = -1;
  choose(view.includes(chosen) ? chosen : view[0]);
}

function sampleText({ id, name, units, references, table }) {
  const lines = table?.rows.filter(Array.isArray).map((line) => line.map(({ text }) => text).join(' ')) ?? [];
  return [id, name, ...units.map((unit) => spaced(unit.join(' '))), ...references, table?.title, ...lines].join('\n').toLowerCase();
}

const outputText = ({ outputs }) => outputs.map(({ text }) => text).join('\n').toLowerCase();

/** Return the texts of all rows of a test or a run; they are unpacked once. */
async function textsOf(packing, textOf) {
  packing.texts ??= (await Promise.all(packing.chunks.map(unpack))).flat().map(textOf);
  return packing.texts;
}

/** Find the rows that have all words of the query, in the sample or in an output; then refresh. */
async function search() {
  const { query } = state;
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length ? new Set() : null;
  if (found) $('count').textContent = 'Searching…';
  for (const run of found ? runs : []) {
    const [samples, outputs] = [await textsOf(run.test, sampleText), await textsOf(run, outputText)];
    const hasAll = ({ sample, place }) => words.every((word) => outputs[place].includes(word) || samples[sample].includes(word));
    for (const row of run.rows.filter(hasAll)) found.add(row);
  }
  if (query !== state.query) return; // another one came
  matching = found;
  refresh();
}

// --- The list, a page of samples at a time -------------------------------------------------------

const PAGE = 100;

let listed = -1; // the page in the list

/** Return the kinds of error of a row; none where the model wrote nothing. */
function badges({ faults }) {
  if (faults === null) return [];
  if (faults === 0) return [el('span', { class: 'fault fine' }, '✓ fine')];
  const found = index.faults.filter((_, bit) => (faults >> bit) & 1);
  return found.map(({ name, meaning }) => el('span', { class: 'fault', title: meaning }, name));
}

function rowElement(row, position) {
  const { run, number, score, units } = row;
  const title = joined(run.test.title, run.name);
  const [first, ...others] = badges(row);
  const text = el('p', { class: 'text' }, '…');
  outcomeOf(row).then(({ outputs }) => text.replaceChildren(...visible(outputs[0].text.trim().slice(0, 200))));
  return el('div', {
    class: 'row', role: 'option', id: `row-${number}`, 'data-row': number, onclick: () => choose(row, { scroll: true }),
    'aria-setsize': view.length, 'aria-posinset': position + 1,
  },
  el('div', { class: 'line' },
    el('span', { title }, title),
    el('span', { class: 'value', title: run.test.metric }, format(score))),
  el('div', { class: 'line' }, first, others.length && el('span', {}, `+${others.length}`),
    el('span', {}, plural(units, 'unit'))),
  text);
}

function showList(page) {
  listed = page;
  const first = page * PAGE;
  const shown = view.slice(first, first + PAGE);
  $('list').replaceChildren(...shown.map((row, at) => rowElement(row, first + at)));
  $('pages').hidden = view.length <= PAGE;
  $('page').textContent = `${counted(first + 1)}–${counted(first + shown.length)}`;
  $('page-back').disabled = page === 0;
  $('page-on').disabled = first + PAGE >= view.length;
}

/** Choose a row, undefined for none, and show its page of the list and its sample. */
function choose(row, { scroll = false } = {}) {
  chosen = row;
  state.sample = row ? `${runs.indexOf(row.run)}.${row.place}` : '';
  const page = Math.max(0, Math.floor(view.indexOf(row) / PAGE));
  if (page !== listed) showList(page);
  $('list').querySelector('[aria-selected]')?.removeAttribute('aria-selected');
  $('list').setAttribute('aria-activedescendant', row ? `row-${row.number}` : '');
  if (row) {
    const element = $(`row-${row.number}`);
    element.setAttribute('aria-selected', 'true');
    // Within the list alone: `scrollIntoView` would move the page too.
    const { offsetTop: top, offsetHeight: height } = element;
    const { scrollTop, clientHeight } = $('list');
    $('list').scrollTop = Math.min(top, Math.max(scrollTop, top + height - clientHeight));
    showSample(row, scroll);
  } else {
    $('sample').replaceChildren();
  }
  remember();
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

const LIST_KEYS = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE, Home: -Infinity, End: Infinity };

function onKey(event) {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (target.matches('input, select')) {
    if (key === 'Escape' && target.id === 'query') $('list').focus();
    return;
  }
  if (target.id === 'list' && key in LIST_KEYS) step(LIST_KEYS[key]);
  else if (target.id === 'list' && key === 'Enter') $('sample').focus();
  else if (key in KEYS) KEYS[key]();
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
  await follow();
  let typing;
  $('query').oninput = () => {
    clearTimeout(typing);
    typing = setTimeout(() => { state.query = $('query').value; search(); }, 160);
  };
  $('filters').onsubmit = (event) => event.preventDefault();
  $('reset').onclick = () => {
    for (const name of [...filters, 'kind', 'query']) state[name] = '';
    buildFilters();
    search();
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
