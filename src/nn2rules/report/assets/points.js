// Points as they are printed, added up exactly: whole numbers of printed steps, and
// fractions of them where parts have weights.
const CARD = DATA.card;

const whole = (text) => BigInt(text);
const pair = (texts) => texts && texts.map(whole);
const plus = ([a, b], [c, d]) => [a * d + c * b, b * d];
const times = ([a, b], [c, d]) => [a * c, b * d];
const isLess = ([a, b], [c, d]) => a * d < c * b;  // below the line all are positive

// A number of 64 bits as a fraction.
function fraction(number) {
  let bottom = 1n, top = number;
  while (!Number.isInteger(top)) { top *= 2; bottom *= 2n; }
  return [BigInt(top), bottom];
}

// The nearest whole number; halves go up.
function rounded([top, bottom]) {
  const twice = 2n * top + bottom, size = 2n * bottom;
  return twice / size - (twice % size < 0n ? 1n : 0n);
}

// The points of one value, in steps, for each column.
function pointsOf({code, number}, place) {
  const own = CARD.features[place];
  if (own.rates === undefined || code !== 0) return own.points[code].map(whole);
  if (own.bins) {
    const bin = own.starts.filter((start) => start <= number).length - 1;
    return own.bins.map((points) => whole(points[bin]));
  }
  return own.rates.map((rate) => rounded(times(pair(rate), fraction(number))));
}

// What the sum of a column counts, as a fraction of a step.
function countedSum({low, high, below}, sum) {
  let found = [sum, 1n];
  if (below && sum < 0n) found = times(found, pair(below));
  if (low && isLess(found, pair(low))) found = pair(low);
  if (high && isLess(pair(high), found)) found = pair(high);
  return found;
}

// Everything about the points of an input.
function pointsFor(input) {
  const each = input.map((value, place) => pointsOf(value, place));
  const sums = CARD.columns.map((column, place) =>
    each.reduce((sum, points) => sum + points[place], whole(column.start)));
  const counted = CARD.columns.map((column, place) => countedSum(column, sums[place]));
  const totals = CARD.totals.map(({start, weights}) => weights.reduce((sum, weight, place) =>
    plus(sum, times(pair(weight), counted[place])), pair(start)));
  return {each: each, sums: sums, totals: totals, proves: provedBy(totals)};
}

// The class that totals prove, or null.
function provedBy(totals) {
  if (CARD.has_regions) return null;
  if (CARD.margin !== null) {
    let best = 0;
    totals.forEach((total, place) => { if (isLess(totals[best], total)) best = place; });
    const isAhead = totals.every((total, place) => place === best
      || !isLess(totals[best], plus(total, pair(CARD.margin))));
    return isAhead ? best : null;
  }
  let found = CARD.lowest;
  for (const {at_most: most, at_least: least, above} of CARD.cut_offs) {
    if (isLess(pair(most), totals[0])) found = null;
    if (!isLess(totals[0], pair(least))) found = above;
  }
  return found;
}

// A fraction of a step in points, as the library prints it.
function pointsText([top, bottom]) {
  let digits = CARD.digits, size = top < 0n ? -top : top;
  while (size % bottom !== 0n) { size *= 10n; digits += 1; }
  const text = String(size / bottom).padStart(digits + 1, "0");
  const end = text.length - digits, parts = text.slice(0, end);
  const rest = text.slice(end).replace(/0+$/, "");
  const grouped = parts.replace(/\B(?=(\d{3})+$)/g, ",");
  return `${top < 0n ? "−" : ""}${grouped}${rest ? `.${rest}` : ""}`;
}

function pointsParts(input) {
  const found = pointsFor(input), names = CARD.columns.map(({name}) => name);
  const text = (steps) => pointsText([steps, 1n]);
  const rows = input.map((value, place) => [FEATURES[place].name, valueText(place, value),
    ...found.each[place].map(text)]);
  if (CARD.columns.some(({start}) => start !== "0")) {
    rows.unshift(["start with", "", ...CARD.columns.map(({start}) => text(whole(start)))]);
  }
  if (names.length > 1) rows.push(["sum", "", ...found.sums.map(text)]);
  const parts = [make("h3", null, "Points"),
    tableOf("Points of each feature", ["feature", "value", ...names], rows)];
  const totals = found.totals.map((total, place) =>
    `${CARD.totals[place].name} ${pointsText(total)}`);
  const out = make("p", {id: "points-total"});
  if (CARD.has_regions) {
    out.append("The regions of the scorecard tell what these sums prove.");
  } else {
    out.append(data(`${totals.join("; ")}: `), found.proves === null
      ? "too close for rounded points." : make("span", null, "proves ",
        data(DATA.classes[found.proves]), "."));
  }
  out.dataset.totals = found.totals.map(pointsText).join(" ");
  out.dataset.proves = found.proves === null ? "" : String(found.proves);
  return [...parts, out];
}
