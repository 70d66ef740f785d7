// --- A sample about a table, and texts that were given -------------------------------------------

const MOST_ROWS = 40; // of a table, until more are asked for
const SIDES = ['text', 'contrast']; // the text of a sample, and of a pair the other one

// What likelihoods are compared by, the published way first.
const MEASURES = {
  token: ([log, tokens]) => (tokens ? log / tokens : NaN),
  sum: ([log]) => log,
  byte: ([log, , size]) => log / Math.max(1, size),
};

/** Return the table that a sample is about, null without one. */
function tableOf({ columns, context }) {
  return columns ? { ...context.table, title: context.title, columns } : null;
}

/** Return the titles of a table of cells. */
const titleOf = ({ context = {} }) => joined([context.title, context.section_title]);

/** Return all that a table can be found by. */
function tableTexts(doc) {
  if (doc.cells) return [titleOf(doc), ...doc.cells.filter(Array.isArray).map((line) => line.map((cell) => cellOf(cell).text).join(' '))];
  const table = tableOf(doc);
  return table ? [String(table.title ?? ''), ...[table.header, ...table.rows].map((row) => row.join(' '))] : [];
}

/** Return a box with a table under its title, and what belongs to it. */
function tableBox(title, table, ...more) {
  const shown = card('Table',
    el('div', { class: 'scroll-x tall', tabindex: '0', role: 'region', 'aria-label': 'Table' }, table), ...more);
  shown.querySelector('h4').replaceChildren(...visible(String(title || 'Table')));
  return shown;
}

/** Return a table in which the columns stand out that a text is about. */
function tableCard({ title, header, rows: lines, columns }) {
  const sidesOf = (column) => columns.flatMap((found, side) => (found.includes(column) ? [side] : []));
  const classOf = (column) => sidesOf(column).map((side) => `about-${side}`).join(' ') || null;
  const names = columns.length > 1 ? SIDES : ['linked'];
  const head = header.map((name, column) => el('th', { scope: 'col', dir: 'auto', class: classOf(column) },
    ...visible(name), ...sidesOf(column).flatMap((side) => [' ', el('span', { class: 'side' }, names[side])])));
  const line = (cells) => el('tr', {}, ...cells.map((cell, column) => el('td', { dir: 'auto', class: classOf(column) }, ...visible(cell))));
  const body = el('tbody', {}, ...lines.slice(0, MOST_ROWS).map(line));
  const more = lines.length > MOST_ROWS ? button({ class: 'more' }, `Show all ${plural(lines.length, 'row')}`, () => {
    body.append(...lines.slice(MOST_ROWS).map(line));
    more.remove();
  }) : null;
  const table = el('table', { class: 'units about' }, el('thead', {}, el('tr', {}, ...head)), body);
  return tableBox(title, table, ...(more ? [more] : []));
}

/** Return a cell as it is packed (report/cells.py): one that is its text alone has no more to it. */
function cellOf(packed) {
  const [text, isHeader, columns, height, units, hidden] = typeof packed === 'string' ? [packed, false, 1, 1, [], 0] : packed;
  return { text, isHeader, columns, height, units, hidden };
}

/** Return the table of a sample, in which highlighted cells say whether the output tells them. */
function cellCard(record, side) {
  const lines = record.cells.map((line) => (Array.isArray(line) ? line.map(cellOf) : line));
  const whole = lines.filter(Array.isArray);
  const width = Math.min(1000, Math.max(1, ...whole.map((line) => line.reduce((sum, { columns }) => sum + columns, 0))));
  const cell = (scope) => ({ text, isHeader, columns, height, units, hidden }) => {
    const spans = { colspan: columns > 1 && columns, rowspan: height > 1 && height };
    if (hidden) return el('td', { class: 'left-out', ...spans }, `… ${plural(hidden, 'cell')}`);
    const signs = units.flatMap((number) => {
      const [kind, sign, word] = tellingOf(number, side);
      return [' ', badge(number), el('span', { class: `sign ${kind}`, title: word }, sign, el('span', { class: 'visually-hidden' }, ` ${word}`))];
    });
    const marked = units.length ? { class: `highlighted hue${units[0] % 8}`, 'data-unit': units.join(' ') } : {};
    return el(isHeader ? 'th' : 'td', { dir: 'auto', ...spans, ...(isHeader && { scope }), ...marked }, ...visible(text), ...signs);
  };
  const row = (line) => {
    if (!Array.isArray(line)) return el('tr', {}, el('td', { class: 'left-out', colspan: width }, `… ${plural(line, 'row')} not shown`));
    return el('tr', {}, ...line.map(cell(line.every(({ isHeader }) => isHeader) ? 'col' : 'row')));
  };
  const about = record.context?.section_text;
  return tableBox(titleOf(record),
    el('table', { class: 'units about cells' }, el('tbody', {}, ...lines.map(row))),
    ...(about ? [el('p', { class: 'said about-text', dir: 'auto' }, ...visible(String(about)))] : []));
}

/** Return which of two texts is likelier by a measure. */
function likelier(likelihoods, measure) {
  const [one, other] = likelihoods.map(measure);
  if (Number.isNaN(one) || Number.isNaN(other)) return 'not known';
  return one === other ? 'neither' : SIDES[Number(one < other)];
}

/** Return given texts with their log likelihoods, and which of two wins. */
function likelihoodBlock(outputs, likelihoods) {
  const number = (value, digits) => el('td', { class: 'number' }, Number.isFinite(value) ? value.toFixed(digits).replace('-', '−') : '–');
  const best = likelihoods.length > 1 ? likelier(likelihoods, MEASURES.token) : null;
  const lines = likelihoods.map((found, side) => {
    const [text, [start, end]] = outputs[side];
    const wins = SIDES[side] === best;
    return el('tr', wins ? { class: 'wins' } : {},
      el('th', { scope: 'row' }, wins ? `▸ ${SIDES[side]}` : SIDES[side]),
      el('td', { dir: 'auto' }, ...visible(Array.from(text).slice(start, end).join(''))),
      number(found[0], 2), number(found[1] ?? NaN, 0),
      number(MEASURES.token(found), 3), number(MEASURES.byte(found), 3));
  });
  const names = ['', '', 'log likelihood', 'tokens', 'by token', 'by byte'];
  const said = best && Object.entries(MEASURES).map(([name, measure]) => `by ${name} ${likelier(likelihoods, measure)}`).join(', ');
  return [
    el('div', { class: 'scroll-x' }, el('table', { class: 'units given' },
      el('thead', {}, el('tr', {}, ...names.map((name) => el('th', { scope: 'col' }, name)))), el('tbody', {}, ...lines))),
    ...(said ? [el('p', { class: 'said likelier' }, `Likelier: ${said}`)] : []),
  ];
}

/** Return the program that an output was read as, with its verdict. */
function readingBlock({ program, verdict, programs, ended }) {
  const found = `${plural(programs, 'program')} found, search ended: ${ended}`;
  if (program === null) return [el('p', { class: 'said reading' }, found)];
  return [
    el('p', { class: 'said reading' }, `Read as ${verdict ? 'true' : 'false'}: `, el('code', {}, ...visible(program)), ` (${found})`),
  ];
}
