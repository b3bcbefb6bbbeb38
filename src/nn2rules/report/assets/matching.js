// Which rule determines the prediction for an input. An input has a code for each
// feature. In a range of numbers, code 0 comes with the number, and the codes above it
// are the values beside the range.
const FEATURES = DATA.features;
const RULES = DATA.rules;
const CONDITIONS = DATA.conditions;
const IS_SET = DATA.form === "set";
const IS_CARD = DATA.form === "scorecard";

function isRange(feature) {
  return feature.edges !== undefined;
}

// How many of the edges are not above a number.
function cellOf(edges, number) {
  let low = 0, high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (edges[middle] <= number) low = middle + 1; else high = middle;
  }
  return low;
}

// The codes of the rules, whose ranges are cut into cells.
function cellsOf(input) {
  return input.map(({code, number}, place) => {
    const feature = FEATURES[place];
    if (!isRange(feature)) return code;
    return code === 0 ? cellOf(feature.edges, number) : feature.edges.length + code;
  });
}

function allows(condition, cells) {
  return condition.allowed.charCodeAt(cells[condition.feature]) === 49;
}

function covers(rule, cells) {
  return rule.if.every((place) => allows(CONDITIONS[place], cells));
}

// The first rule that covers an input, or -1.
function ruleOf(input) {
  const cells = cellsOf(input);
  return RULES.findIndex((rule) => covers(rule, cells));
}

function isImpossible(input) {
  const declared = DATA.what_if.impossible;
  if (!declared) return false;
  return declared.boxes.some((box) => {
    let start = 0;
    return input.every(({code}, place) => {
      const bit = box.charCodeAt(start + code);
      start += FEATURES[place].values.length + (isRange(FEATURES[place]) ? 1 : 0);
      return bit === 49;
    });
  });
}

function valueText(place, {code, number}) {
  const feature = FEATURES[place];
  if (!isRange(feature)) return feature.values[code];
  return code === 0 ? String(number) : feature.values[code - 1];
}

// A cell of a row as part of an input.
function inputCell(place, cell) {
  if (!isRange(FEATURES[place])) return {code: cell, number: null};
  return typeof cell === "number" ? {code: 0, number: cell}
    : {code: Number(cell), number: null};
}
