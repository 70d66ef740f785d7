// One sample: its table, units and references, and the outputs of a run and of the run beside it.
'use strict';

const hue = (units) => (units.length ? `hue${units[0] % 8}` : '');
const badge = (number) => el('span', { class: `id unit ${hue([number])}` }, String(number));

// --- An output with its marks --------------------------------------------------------------------

/** Return a stretch of an output with its labels, whose signs and meanings the index has. */
function mark(text, labels, isLast) {
  const units = labels.filter(([kind]) => kind.endsWith('unit')).map(([, number]) => number);
  const filled = (field) => labels.map(([kind, number]) => index.kinds[kind][field].replace('{}', number));
  const meaning = filled('meaning').join('; ');
  return el('mark', {
    class: [...labels.map(([kind]) => kind.split(' ')[0]), hue(units)].join(' '),
    title: meaning,
    'data-unit': units.join(' '),
  }, text, isLast && el('sup', { 'aria-label': ` (${meaning})` }, filled('sign').join(' ')));
}

/** Return an output's text as nodes, with its marks. Indices count code points, as Python's do. */
function marked({ output, scored: [first, last], marks = [] }) {
  const points = Array.from(output);
  const piece = (start, end) => points.slice(start, end).join('');
  const unscored = (part) => part.trim() && el('span', { class: 'unscored', title: 'Not scored' }, part);
  const nodes = [unscored(piece(0, first))];
  let at = first;
  marks.forEach(([start, end, labels], place) => {
    const [next, , itsLabels] = marks[place + 1] ?? [];
    const goesOn = String(itsLabels) === String(labels) && !piece(end, next).trim();
    nodes.push(piece(at, start), mark(piece(start, end), labels, !goesOn));
    at = end;
  });
  return [...nodes, piece(at, last), unscored(piece(last))];
}

const notesOf = (notes = []) => notes.map((text) => el('p', { class: 'note' }, text));

function outputOf({ marked: output, purpose, notes }) {
  const text = output.output.trim() ? marked(output) : el('span', { class: 'none' }, 'no output');
  return [
    purpose && el('p', { class: 'order' }, `Output for ${purpose}`),
    el('p', { class: 'output', dir: 'auto' }, text),
    ...notesOf(notes),
  ];
}

// --- Tables of a sample --------------------------------------------------------------------------

const SIDES = ['text', 'contrast']; // that a column may be linked to: of a sample, and of a pair the other one
const SIGNS = { expressed: '✓', missing: '✗', 'in doubt': '?', 'without words': '–', copied: '✓' };

function card(title, ...content) {
  return el('section', { class: 'card' }, el('header', {}, el('h4', {}, title)), ...content);
}

function tableOf(heads, lines, kind = '') {
  return el('div', { class: 'scroll-x', tabindex: '0', role: 'region', 'aria-label': 'Table' },
    el('table', { class: `units ${kind}` }, heads.length && el('thead', {}, el('tr', {}, heads)), el('tbody', {}, lines)));
}

/** Return a table of parts of the input, with the verdict on each part in each output. */
function inputTable(names, outputs, lines) {
  const heads = names.map((name) => el('th', { scope: 'col' }, name));
  const columns = outputs.map(({ name }) => el('th', { scope: 'col', class: 'verdict' }, name));
  return tableOf([...heads, ...columns], lines.map(({ unit, head, texts, verdicts }) => el('tr', { 'data-unit': unit },
    el('th', { scope: 'row' }, head),
    texts.map((text) => el('td', { dir: 'auto' }, text)),
    verdicts.map((verdict) => el('td', { class: `verdict ${['missing', 'in doubt'].includes(verdict) ? 'no' : 'yes'}` }, `${SIGNS[verdict]} ${verdict}`)))));
}

function unitTable({ units, table }, outputs) {
  const fields = units[0].length === 3 ? ['subject', 'predicate', 'object'] : table ? ['header', 'highlighted cell'] : ['attribute', 'value'];
  return inputTable(['unit', ...fields], outputs, units.map((unit, number) => ({
    unit: number,
    head: badge(number),
    texts: unit.map(spaced),
    verdicts: outputs.map(({ verdicts }) => verdicts[number]),
  })));
}

function hiddenTable(hidden, outputs) {
  return inputTable(['shown phrase', 'hides'], outputs, hidden.map(([text, phrase], number) => ({
    head: phrase,
    texts: [text],
    verdicts: outputs.map(({ marked: { phrases = [] } }) => (phrases.includes(number) ? 'missing' : 'copied')),
  })));
}

/** Return a cell of a table: a highlighted one has its units, a linked header names the text. */
function cellOf({ text, header, columns, rows: height, units = [], sides = [] }, scope) {
  return el(header ? 'th' : 'td', {
    dir: 'auto',
    colspan: columns,
    rowspan: height,
    scope: header && scope,
    'data-unit': units.length > 0 && units.join(' '),
    class: [...sides.map((side) => `about-${side}`), units.length && 'highlighted', hue(units)].filter(Boolean).join(' '),
  }, text, units.flatMap((number) => [' ', badge(number)]), sides.map((side) => header && el('span', { class: 'side' }, ` ${SIDES[side]}`)));
}

/** Return a table in which linked columns and highlighted cells stand out. */
function tableCard({ table, section }) {
  const lines = table.rows.map((line) => (Array.isArray(line)
    ? el('tr', {}, line.map((cell) => cellOf(cell, line.every(({ header }) => header) ? 'col' : 'row')))
    : el('tr', {}, el('td', { class: 'left-out', colspan: 1000 }, `… ${plural(line, 'row')} not shown`))));
  return card(table.title || 'Table', tableOf([], lines, 'cells'), section && el('p', { class: 'note', dir: 'auto' }, section));
}

// --- The sample chosen ---------------------------------------------------------------------------

const MOST_SCORES = 4; // beside an output

/** Return the parts of a name, after each of which a line may end. */
function brokenAtSlashes(name) {
  return name.split(/(?<=\/)/).flatMap((part) => [part, el('wbr')]);
}

function outputCard(row, { outputs, scores, notes }) {
  const name = joined(row.run.facets.model, row.run.name);
  const { labels } = row.run.test;
  const values = Object.entries(scores).slice(0, MOST_SCORES).map(([score, value]) => el('span', {}, `${labels[score] ?? spaced(score)} `, el('b', {}, format(value))));
  return el('section', { class: 'card outputs', 'data-row': row.number, 'aria-label': `Output of ${name}` },
    el('header', {}, el('h4', {}, brokenAtSlashes(name)), el('span', { class: 'values' }, values)),
    el('div', { class: 'inside' }, outputs.flatMap(outputOf), notesOf(notes), el('p', { class: 'faults' }, badges(row))));
}

/** Return the outputs that have verdicts, each with the name of its run as the head of a column. */
function columnsOf(shown, outcomes) {
  return shown.flatMap(({ run }, place) => outcomes[place].outputs.map((output, number, { length }) => ({
    ...output,
    name: (shown.length > 1 ? (index.isPair ? run.facets.model : run.name) : 'here') + (length > 1 ? ` (${number + 1})` : ''),
  }))).filter(({ verdicts }) => verdicts);
}

function headOf(row, { id, about }) {
  const place = view.indexOf(row);
  const go = (attributes, text, by) => el('button', { type: 'button', onclick: () => step(by), ...attributes }, text);
  return el('div', { class: 'head' },
    el('h3', {}, row.run.test.title),
    el('span', { class: 'where' }, about.map((text) => `${text} · `), el('code', {}, id)),
    el('span', { class: 'go' },
      go({ id: 'previous', 'aria-label': 'Previous sample', disabled: place <= 0 }, '↑ k', -1),
      go({ id: 'next', 'aria-label': 'Next sample', disabled: place >= view.length - 1 }, '↓ j', 1)));
}

async function showSample(row, scroll) {
  const other = beside(row);
  const shown = (index.isPair ? [other, row] : [row, other]).filter(Boolean);
  const [record, ...outcomes] = await Promise.all([packed(row.run.test, row.sample), ...shown.map(outcomeOf)]);
  if (row !== chosen || beside(row) !== other) return; // another one was chosen meanwhile
  const { units, references, hidden = [], table, twins, fields = [] } = record;
  const outputs = columnsOf(shown, outcomes);
  const prompts = outcomes[0].inputs ?? record.inputs;
  const listed = (texts) => el('ol', { class: 'inside references' }, texts.map((text) => el('li', { dir: 'auto' }, text)));
  $('sample').replaceChildren(...[
    headOf(row, record),
    table && tableCard(record),
    fields.length > 0 && card('Document', inputTable([], [], fields.map(([head, text]) => ({ head, texts: [text], verdicts: [] })))),
    units.length > 0 && !table?.linked && card(table ? 'Highlighted cells' : 'Input', unitTable({ units, table }, outputs)),
    hidden.length && card('Hidden phrases', hiddenTable(hidden, outputs)),
    el('div', { class: 'pair' }, shown.map((each, place) => outputCard(each, outcomes[place]))),
    references.length && card(references.length > 1 ? 'References' : 'Reference', listed(references)),
    ...twins.map((twin) => card('Twin', unitTable(twin, []), listed(twin.references))),
    ...prompts.map((text, number) => el('details', {},
      el('summary', {}, prompts.length > 1 ? `Prompt ${number + 1}` : 'Prompt'), el('p', { class: 'prompt' }, text))),
  ].filter(Boolean));
  $('sample').dataset.shown = String(row.number);
  if (scroll && matchMedia('(max-width: 60rem)').matches) $('sample').scrollIntoView();
}

/** Light up a unit in the tables and in all outputs while it is pointed at. */
function lightUp(event) {
  const lit = event.target.closest?.('[data-unit]')?.dataset.unit.split(' ').filter(Boolean) ?? [];
  for (const each of $('sample').querySelectorAll('[data-unit]')) {
    each.classList.toggle('lit', each.dataset.unit.split(' ').some((unit) => lit.includes(unit)));
  }
}
