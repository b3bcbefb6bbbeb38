// Why an input has its class, and the smallest changes that flip it.
const TRIED_NUMBERS = 400, SPREAD = 32, TRIED_PAIRS = 60000, LISTED = 6, TRIED_RULES = 2000;

// Look at every input: which sets of features differ where the class does.
function byTable(input, prediction) {
  const sizes = FEATURES.map((feature) => feature.values.length);
  const free = sizes.map((_, place) => place).filter((place) => sizes[place] > 1);
  const bit = sizes.map((_, place) => 1 << Math.max(free.indexOf(place), 0));
  const total = sizes.reduce((product, size) => product * size, 1);
  const seen = new Uint8Array(1 << free.length);
  let fewest = Infinity, found = [], count = 0;
  const codes = sizes.map(() => 0);
  let mask = 0;
  free.forEach((place) => { if (input[place].code !== 0) mask |= bit[place]; });
  for (let index = 0; index < total; index++) {
    if (TABLE(index) !== prediction) {
      seen[mask] = 1;
      const size = bitCount(mask);
      if (size < fewest) { fewest = size; found = []; count = 0; }
      if (size === fewest && ++count <= LISTED) {
        found.push({codes: codes.slice(), prediction: TABLE(index)});
      }
    }
    for (let place = sizes.length - 1; place >= 0; place--) {
      codes[place] = codes[place] + 1 === sizes[place] ? 0 : codes[place] + 1;
      if (sizes[place] > 1) {
        if (codes[place] === input[place].code) mask &= ~bit[place];
        else mask |= bit[place];
      }
      if (codes[place] !== 0) break;
    }
  }
  const changes = found.map((one) => ({prediction: one.prediction, to: one.codes
    .map((code, place) => ({place: place, value: {code: code, number: null}}))
    .filter(({place, value}) => value.code !== input[place].code)}));
  return {fewest: fewest, count: count, changes: changes,
    reason: smallestReason(seen, free)};
}

function bitCount(mask) {
  let count = 0;
  for (; mask; mask &= mask - 1) count++;
  return count;
}

// The fewest features of which each differing input changes one.
function smallestReason(seen, free) {
  const n = seen.length, within = seen.slice();
  for (let bit = 1; bit < n; bit <<= 1) {
    for (let mask = 0; mask < n; mask++) {
      if ((mask & bit) && within[mask ^ bit]) within[mask] = 1;
    }
  }
  let best = n - 1;
  for (let mask = 0; mask < n; mask++) {
    if (!within[n - 1 - mask] && bitCount(mask) < bitCount(best)) best = mask;
  }
  return free.filter((_, place) => best & (1 << place));
}

// Other values to try for a feature, and whether they are all.
function others(input, place) {
  const feature = FEATURES[place], own = input[place];
  const range = isRange(feature);
  const listed = feature.values.map((_, code) => ({code: code + (range ? 1 : 0),
    number: null}));
  if (!range) return [listed.filter(({code}) => code !== own.code), true];
  const isAll = feature.low === feature.high
    || (feature.whole && feature.high - feature.low < TRIED_NUMBERS);
  let numbers = [feature.low, feature.high];
  if (isAll && feature.whole) {
    numbers = [];
    for (let n = feature.low; n <= feature.high; n++) numbers.push(n);
  } else if (!isAll) {
    for (let part = 1; part < SPREAD; part++) {
      const n = feature.low + (feature.high - feature.low) * part / SPREAD;
      numbers.push(feature.whole ? Math.round(n) : n);
    }
    const step = Math.ceil(2 * feature.edges.length / TRIED_NUMBERS) || 1;
    for (let i = 0; i < feature.edges.length; i += step) {
      const edge = feature.edges[i];
      numbers.push(edge, feature.whole ? edge - 1 : before(edge));
    }
  }
  const tried = [...new Set(numbers)].filter((n) => own.code !== 0 || n !== own.number);
  const near = own.code === 0 ? own.number : feature.low;
  tried.sort((a, b) => Math.abs(a - near) - Math.abs(b - near));
  const beside = listed.filter(({code}) => code !== own.code);
  return [[...tried.map((number) => ({code: 0, number: number})), ...beside], isAll];
}

function changed(input, to) {
  const made = input.slice();
  for (const {place, value} of to) made[place] = value;
  return made;
}

// Try changes of one feature, then of two, then those that rules name.
function bySearch(input, prediction) {
  const tries = FEATURES.map((_, place) => others(input, place));
  const progress = {isAll: tries.every(([, isAll]) => isAll), unknown: 0};
  const one = tries.map(([values, ], place) => flipping(input, prediction, progress,
    values.map((value) => [{place: place, value: value}]), isRange(FEATURES[place])));
  const singles = one.flat();
  if (singles.length) return {...progress, size: 1, changes: singles};
  const pairs = [];
  for (let a = 0; a < tries.length; a++) {
    for (let b = a + 1; b < tries.length; b++) {
      if (pairs.length + tries[a][0].length * tries[b][0].length > TRIED_PAIRS) continue;
      for (const v of tries[a][0]) for (const w of tries[b][0]) {
        pairs.push([{place: a, value: v}, {place: b, value: w}]);
      }
    }
  }
  const ofOne = {...progress};
  const both = flipping(input, prediction, progress, pairs, true, LISTED);
  if (both.length) return {...ofOne, size: 2, changes: both};
  return {...ofOne, size: 3, changes: changesByRules(input, prediction)};
}

function flipping(input, prediction, progress, tries, isFirst, most = LISTED) {
  const found = [];
  for (const to of tries) {
    const other = changed(input, to);
    if (isImpossible(other)) continue;
    const known = knownClass(other).prediction;
    if (known === null) progress.unknown++;
    else if (known !== prediction) {
      found.push(closer(input, {to: to, prediction: known}, prediction));
      if (isFirst && most === LISTED && to.length === 1) return found;
      if (found.length >= most) return found;
    }
  }
  return found;
}

// The same change with a number that is nearer, and shorter to write, if one is found.
function closer(input, change, prediction) {
  const [{place, value}] = change.to, own = input[place];
  if (change.to.length > 1 || value.number === null || own.code !== 0) return change;
  const flips = (number) => {
    const known = knownClass(changed(input, [{place: place,
      value: {code: 0, number: number}}])).prediction;
    return known === null ? null : known !== prediction;
  };
  let near = own.number, far = value.number;
  for (let step = 0; step < 60; step++) {
    const middle = FEATURES[place].whole ? Math.trunc((near + far) / 2) : (near + far) / 2;
    if (middle === near || middle === far) break;
    const isFlipped = flips(middle);
    if (isFlipped === null) break;
    if (isFlipped) far = middle; else near = middle;
  }
  const short = written(own.number, far, FEATURES[place], flips);
  const number = short === null ? far : short;
  const made = {place: place, value: {code: 0, number: number}};
  const gives = knownClass(changed(input, [made])).prediction;
  return gives === null || gives === prediction ? change : {to: [made], prediction: gives};
}

// A number of few digits at or a little beyond `far`, seen from `own`, that flips the prediction.
function written(own, far, {low, high, whole}, flips) {
  if (whole) return null;
  for (let digits = 2; digits < 16; digits++) {
    const size = 10 ** (Math.floor(Math.log10(Math.abs(far) || 1)) - digits + 1);
    const rounded = far > own ? Math.ceil(far / size) : Math.floor(far / size);
    const number = Number((rounded * size).toPrecision(digits));
    const isBeyond = far > own ? number >= far : number <= far;
    const isClose = Math.abs(number - far) <= 0.05 * Math.abs(far - own);
    if (isBeyond && isClose && number >= low && number <= high && flips(number)) {
      return number;
    }
  }
  return null;
}

// Changes after which a rule of another class covers the input, with fewest features.
function changesByRules(input, prediction) {
  const cells = cellsOf(input);
  let fewest = Infinity, found = [];
  for (const rule of RULES.slice(0, TRIED_RULES)) {
    if (rule.then === prediction || !DATA.is_exact) continue;
    const missed = rule.if.map((place) => CONDITIONS[place])
      .filter((condition) => !allows(condition, cells));
    if (missed.length > fewest) continue;
    const to = missed.map((condition) => ({place: condition.feature,
      value: nearest(input, condition)}));
    const other = changed(input, to);
    if (isImpossible(other) || knownClass(other).prediction !== rule.then) continue;
    if (missed.length < fewest) { fewest = missed.length; found = []; }
    if (found.length < LISTED) found.push({to: to, prediction: rule.then});
  }
  return found;
}

// The allowed value that is nearest to an input's own.
function nearest(input, {feature: place, allowed}) {
  const feature = FEATURES[place], own = input[place];
  if (!isRange(feature)) return {code: allowed.indexOf("1"), number: null};
  const ends = [feature.low, ...feature.edges], numbers = [];
  ends.forEach((low, cell) => {
    if (allowed[cell] !== "1") return;
    const next = feature.edges[cell];
    const last = next === undefined ? feature.high
      : feature.whole ? next - 1 : before(next);
    numbers.push(low, last);
  });
  if (!numbers.length) {
    return {code: allowed.indexOf("1", ends.length) - feature.edges.length, number: null};
  }
  const near = own.code === 0 ? own.number : feature.low;
  numbers.sort((a, b) => Math.abs(a - near) - Math.abs(b - near));
  return {code: 0, number: numbers[0]};
}
