// --- Search ------------------------------------------------------------------------------------

const haystacks = new Map(); // texts in lower case by chunk, once something was sought

/** Return what a chunk of outputs, or of samples, can be found by: one text for each of its rows. */
async function haystack(number, textsOf) {
  if (!haystacks.has(number)) {
    haystacks.set(number, (await unpack(number)).map((row) => textsOf(row).join('\n').toLowerCase()));
  }
  return haystacks.get(number);
}

function sampleTexts(doc) {
  const record = decoded(doc);
  const { id, name, units, references } = record;
  return [id, name ?? '', ...units.map((unit) => spaced(unit.join(' '))), ...references, ...tableTexts(record)];
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
