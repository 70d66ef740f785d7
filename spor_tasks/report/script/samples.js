// --- Samples and runs ----------------------------------------------------------------------------
//
// They lie in the page as gzip in base64, `index.size` of them at a time, and are unpacked when they
// are looked at; what filters need of all of them is in one chunk of its own, the index
// (report/browser.py).

const KEPT = 128; // chunks that stay unpacked
const AS_IS = 'as is';

let index; // tests, runs and faults
let rows; // columns of all samples of all runs: run, place in it, faults, units, score

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

/** Read the index, number the runs' rows, and tell apart runs that would have the same name. */
async function readIndex() {
  index = await unpack(0);
  const total = index.runs.reduce((sum, run) => sum + run.faults.length, 0);
  rows = {
    run: new Uint16Array(total), place: new Uint32Array(total), faults: new Uint16Array(total),
    units: new Uint16Array(total), score: new Float32Array(total),
  };
  const copies = new Map();
  let row = 0;
  index.runs.forEach((run, number) => {
    const key = JSON.stringify([run.test, run.model, run.arm, run.seed]);
    run.copy = (copies.get(key) ?? 0) + 1;
    copies.set(key, run.copy);
    run.number = number;
    run.first = row;
    const { sizes } = testOf(run);
    for (let place = 0; place < run.faults.length; place += 1, row += 1) {
      rows.run[row] = number;
      rows.place[row] = place;
      rows.faults[row] = run.faults[place];
      rows.units[row] = sizes[run.samples ? run.samples[place] : place];
      rows.score[row] = run.scores[place] ?? NaN;
    }
  });
}

const testOf = (run) => index.tests[run.test];
const runOf = (row) => index.runs[rows.run[row]];

/** Return the number of a row's sample in its test. */
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

/** Return the rows of all other runs with this row's sample. */
function sisters(row) {
  const mine = runOf(row);
  return index.runs
    .filter((run) => run !== mine && run.test === mine.test)
    .map((run) => rowIn(run, sampleOf(row)))
    .filter((other) => other >= 0);
}

/** Return the chunk with something that is packed from the chunk `first` on. */
const chunkAt = (first, number) => first + Math.floor(number / index.size);

async function outputsOf(row) {
  const place = rows.place[row];
  return (await chunk(chunkAt(runOf(row).chunk, place)))[place % index.size];
}

async function recordOf(row) {
  const number = sampleOf(row);
  return decoded((await chunk(chunkAt(testOf(runOf(row)).chunk, number)))[number % index.size]);
}

/** Return the sample of a document (`core/codec.py`), whose ragged fields are JSON texts. */
function decoded({ units, input_orders: orders, hidden, context, twin, ...doc }) {
  const parsed = (text) => text && JSON.parse(text);
  return {
    ...doc, units: parsed(units), orders: parsed(orders), hidden: parsed(hidden), context: parsed(context),
    twin: twin && decoded(JSON.parse(twin)),
  };
}

/** Return an arm and a seed; of two runs with the same, the second says so. */
function runName({ arm, seed, copy }) {
  return (arm ?? AS_IS) + (seed === null ? '' : `, seed ${seed}`) + (copy > 1 ? ` (${copy})` : '');
}

const fullName = (run) => `${run.model} · ${runName(run)}`;
const faultsOf = (row) => index.faults.filter((_, bit) => (rows.faults[row] >> bit) & 1);

function format(score) {
  if (Number.isNaN(score)) return '–';
  return Number.isInteger(score) ? String(score) : score.toFixed(Math.abs(score) <= 1 ? 2 : 1);
}
