// What is known about one input: from the table of all classes, a rule, or the network.
const TABLE = DATA.what_if.table && unpacked(DATA.what_if.table);

function unpacked({bits, data: text}) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const each = 8 / bits, mask = (1 << bits) - 1;
  return (index) => (bytes[Math.floor(index / each)] >> (bits * (index % each))) & mask;
}

function tableClass(input) {
  let index = 0;
  input.forEach(({code}, place) => {
    index = index * FEATURES[place].values.length + code;
  });
  return TABLE(index);
}

// The class that rules predict for an input; null where they claim nothing.
function rulesClass(rule) {
  if (rule >= 0) return RULES[rule].then;
  return DATA.is_exact && !DATA.is_whole ? null : DATA.default;
}

// The network's class for an input, if known, and how it is known.
function knownClass(input) {
  if (TABLE) return {prediction: tableClass(input), how: "table"};
  if (DATA.is_exact && !isImpossible(input)) {
    const rule = ruleOf(input);
    if (rule >= 0) return {prediction: RULES[rule].then, how: "rule"};
    if (DATA.is_whole) return {prediction: DATA.default, how: "otherwise"};
  }
  if (!NETWORK) return {prediction: null, how: "uncovered"};
  const prediction = networkClass(input);
  return {prediction: prediction, how: prediction === null ? "tie" : "network"};
}
