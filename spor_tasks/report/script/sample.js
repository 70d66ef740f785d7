// --- The sample chosen ---------------------------------------------------------------------------

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

/** Return what one of so many outputs is for: an input order, and the original or its twin. */
function askedOf({ orders, twin }, count, number) {
  const each = twin ? count / 2 : count;
  const side = twin && (number < each ? 'the original' : 'the twin');
  return [side, orders && each > 1 && `input order ${orders[number % each].join(' ')}`].filter(Boolean).join(', ');
}

function outputCard(row, record, [written, values, , { likelihoods, reading, said } = {}]) {
  const run = runOf(row);
  const inside = el('div', { class: 'inside' });
  if (likelihoods) inside.append(...likelihoodBlock(written, likelihoods));
  for (const [number, output] of likelihoods ? [] : written.entries()) {
    const asked = askedOf(record, written.length, number);
    if (asked) inside.append(el('p', { class: 'order' }, `Output for ${asked}`));
    const { hidden } = record.twin && number >= written.length / 2 ? record.twin : record;
    inside.append(...outputBlock(output, hidden ?? []));
  }
  if (reading) inside.append(...readingBlock(reading));
  if (said) inside.append(saidBlock(said, likelihoods ? 'Likeliest as: ' : 'Judged as: '));
  inside.append(el('p', { class: 'faults said' }, ...badges(row)));
  const name = `Output of ${run.model}, ${runName(run)}`;
  return el('section', { class: 'card outputs', 'data-row': row, 'aria-label': name },
    el('header', {},
      el('h4', {}, ...visible(run.model), ` · ${runName(run)}`),
      el('span', { class: 'values' }, ...figures(values, testOf(run).metric))),
    inside);
}

/** Return which value of each aspect is found, and what was asked for if it differs. */
function saidBlock(said, who) {
  const values = said.map(([aspect, value, asked]) => value === asked
    ? el('span', {}, ...visible(`${aspect} ${value}`))
    : el('span', {}, ...visible(`${aspect} `), el('b', {}, ...visible(value)), ...visible(` (asked: ${asked ?? 'none'})`)));
  return el('p', { class: 'said attributes' }, who, ...values.flatMap((each, number) => (number ? [', ', each] : [each])));
}

const badge = (number) => el('span', { class: `id unit hue${number % 8}` }, String(number));

function told(kind, sign, word) {
  return el('td', { class: `told ${kind}` }, `${sign} `, el('span', { class: 'word' }, word));
}

/** Return what all runs together say of something: on how many outputs it is as it should be. */
function toldByAll(outputs, isTold) {
  const good = outputs.filter(isTold).length;
  return el('td', { class: `told ${good === outputs.length ? 'yes' : 'no'}` }, `${good} of ${outputs.length}`);
}

/** Return a table of the input, with a column for each output, and one for all runs if shown. */
function inputTable(names, sides, all, body) {
  const head = el('tr', {},
    ...names.map((name) => el('th', { scope: 'col' }, name)),
    ...sides.map(({ name, title }) => el('th', { scope: 'col', class: 'told', title }, name)),
    all.length ? el('th', { scope: 'col', class: 'told', title: 'Outputs of all runs' }, 'all') : null);
  return el('div', { class: 'scroll-x' },
    el('table', { class: 'units' }, el('thead', {}, head), el('tbody', {}, ...body)));
}

/** Return what an output tells of a unit: a class, a sign and a word. */
function tellingOf(number, { missing, doubtful, wordless }) {
  if (missing.includes(number)) return ['no', '✗', 'missing'];
  if (doubtful.includes(number)) return ['no', '?', 'in doubt'];
  return wordless.includes(number) ? ['nothing', '–', 'without words'] : ['yes', '✓', 'told'];
}

/** Return the table of units, which says of each output whether it tells them. */
function unitTable({ units, cells }, sides, all) {
  const pair = cells ? ['header', 'highlighted cell'] : ['attribute', 'value'];
  const fields = units[0].length === 3 ? ['subject', 'predicate', 'object'] : pair;
  return inputTable(['unit', ...fields], sides, all, units.map((unit, number) => el('tr', { 'data-unit': number },
    el('th', { scope: 'row' }, badge(number)),
    ...unit.map((part) => el('td', { dir: 'auto' }, ...visible(spaced(part)))),
    ...sides.map((side) => told(...tellingOf(number, side))),
    all.length ? toldByAll(all, ([, , , missing]) => !missing.includes(number)) : null)));
}

/** Return the table of hidden phrases, which says of each output whether it copies them. */
function hiddenTable(hidden, sides, all) {
  return inputTable(['shown phrase', 'hides'], sides, all, hidden.map(([what, phrase], number) => el('tr', {},
    el('th', { scope: 'row' }, ...visible(phrase)),
    el('td', {}, ...visible(what)),
    ...sides.map(({ uncopied }) => (uncopied.includes(number)
      ? told('no', '✗', 'missing') : told('yes', '✓', 'copied'))),
    all.length ? toldByAll(all, ([, , , , uncopied]) => !uncopied.includes(number)) : null)));
}

/** Return what the tables say of one output, under its run's name; `said` are attributes found. */
function sideOf(row, output, number, { several, asked, both, beside: isBeside, wordless, said }) {
  const inDoubt = output[2].flatMap(([, , labels]) => labels.filter((label) => label[0] === 'd'));
  return {
    name: (both ? runName(runOf(row)) : 'here') + (several ? ` (${number + 1})` : ''),
    title: (isBeside ? 'The output beside' : 'This output') + (asked ? `, for ${asked}` : ''),
    missing: said ? [...said.keys()].filter((at) => said[at][1] !== said[at][2]) : output[3],
    doubtful: inDoubt.map((label) => Number(label.slice(1))),
    uncopied: output[4],
    wordless,
  };
}

function headOf(row, record) {
  const test = testOf(runOf(row));
  const position = positionOf(row);
  const aspect = test.aspect[0].toUpperCase() + spaced(test.aspect.slice(1));
  const begins = record.begins && `begins “${record.begins}”`;
  const about = [record.name, record.category, begins].filter(Boolean).map((text) => `${text} · `);
  const others = sisters(row).length;
  const first = position <= 0;
  const last = position >= view.length - 1;
  const back = () => { $('list').focus(); $('list').parentNode.scrollIntoView(); };
  return el('div', { class: 'head' },
    button({ id: 'back' }, '← List', back),
    el('h3', {}, joined([aspect, test.corpus, test.part])),
    el('span', { class: 'where' }, ...about.flatMap(visible), el('code', {}, record.id)),
    el('span', { class: 'go' },
      others ? button({ id: 'all', 'aria-pressed': String(state.show === 'all') },
        `All ${others + 1} runs`, () => showAll().then(() => $('all').focus())) : null,
      button({ id: 'previous', 'aria-label': 'Previous sample', disabled: first }, '↑ k', () => step(-1)),
      button({ id: 'next', 'aria-label': 'Next sample', disabled: last }, '↓ j', () => step(1))));
}

let shows = 0;

async function showSample(row, focus) {
  shows += 1;
  const mine = shows;
  const other = beside(row);
  const two = other < 0 ? [row] : [row, other];
  const more = state.show === 'all' ? sisters(row).filter((each) => each !== other) : [];
  const [record, ...written] = await Promise.all([recordOf(row), ...[...two, ...more].map(outputsOf)]);
  if (mine !== shows) return; // another was chosen meanwhile
  const { references, hidden, inputs } = record;
  const all = [...two, ...more].map((each, place) => [each, written[place]]);
  const pairs = all.slice(0, two.length);
  const hasAttributes = record.begins !== undefined;
  const counted = more.length && !hasAttributes ? written.flatMap(([outputs]) => outputs) : [];
  const { units, cells } = record;
  const wordless = cells ? [...units.keys()].filter((number) => !/[\p{L}\p{N}]/u.test(units[number].at(-1))) : [];
  const sides = pairs.flatMap(([each, [outputs, , , { said } = {}]]) => {
    if (hasAttributes && said?.length !== units.length) return [];
    const shape = { several: outputs.length > 1, both: pairs.length > 1, beside: each === other, wordless, said };
    return outputs.map((output, number) => sideOf(each, output, number, {
      ...shape, asked: askedOf(record, outputs.length, number),
    }));
  });
  const prompts = written[0][2] ?? inputs ?? [];
  const listed = (texts) => el('div', { class: 'inside' }, el('ol', { class: 'references' },
    ...texts.map((text) => el('li', { dir: 'auto' }, ...visible(text)))));
  const { twin } = record;
  const article = $('sample');
  const table = tableOf(record);
  article.replaceChildren(
    headOf(row, record),
    ...(cells ? [cellCard(record, sides[0])] : []),
    table ? tableCard(table) : card(cells ? 'Highlighted cells' : 'Input', unitTable(record, sides, counted)),
    ...(hidden?.length ? [card('Hidden phrases', hiddenTable(hidden, sides, counted))] : []),
    el('div', { class: 'pair' },
      ...all.map(([each, outputs]) => outputCard(each, record, outputs))),
    ...(references.length ? [card(references.length > 1 ? 'References' : 'Reference', listed(references))] : []),
    ...(twin ? [card('Twin', unitTable(twin, [], []), twin.references.length ? listed(twin.references) : null)] : []),
    ...prompts.map((text, number) => el('details', {},
      el('summary', {}, prompts.length > 1 ? `Prompt ${number + 1}` : 'Prompt'),
      el('p', { class: 'prompt' }, ...visible(text)))),
  );
  article.dataset.shown = String(row);
  highlight();
  if (focus && isSmall()) article.scrollIntoView();
}

/** Show the outputs of all runs for the sample, or of one or two. */
async function showAll() {
  state.show = state.show === 'all' ? '' : 'all';
  remember();
  if (chosen >= 0) await showSample(chosen);
}

/** Light up a unit in the table and in all outputs while it is pointed at. */
function lightUp(event) {
  const units = event.target.closest?.('[data-unit], mark[data-units]');
  const lit = units ? (units.dataset.unit ?? units.dataset.units).split(' ').filter(Boolean) : [];
  for (const row of $('sample').querySelectorAll('[data-unit]')) {
    row.classList.toggle('lit', row.dataset.unit.split(' ').some((unit) => lit.includes(unit)));
  }
  for (const mark of $('sample').querySelectorAll('mark[data-units]')) {
    mark.classList.toggle('lit', mark.dataset.units.split(' ').some((unit) => lit.includes(unit)));
  }
}
