// --- The list: only the rows in sight exist ------------------------------------------------------

const ROW = 98; // pixels, as in page.css

function badges(row) {
  if (runOf(row).given) return []; // the model wrote nothing
  const found = faultsOf(row);
  if (!found.length) return [el('span', { class: 'fault fine' }, '✓ fine')];
  return found.map(([name, meaning]) => el('span', { class: 'fault', title: meaning }, name));
}

function rowElement(position) {
  const row = view[position];
  const run = runOf(row);
  const test = testOf(run);
  const [first = null, ...others] = badges(row);
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
  showPanels();
  remember();
}

/** Show any of the samples found. */
function chooseAny() {
  if (view.length) choose(view[Math.floor(Math.random() * view.length)], { focus: true });
}

function step(by) {
  if (!view.length) return;
  const position = positionOf(chosen);
  const next = position < 0 ? 0 : Math.min(view.length - 1, Math.max(0, position + by));
  choose(view[next]);
}
