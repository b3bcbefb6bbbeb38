// What is known of one input: by the table of all classes, by a rule, by the network.
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

// The class that rules give an input; null where they claim nothing.
function rulesClass(rule) {
  if (rule >= 0) return RULES[rule].then;
  return DATA.is_right && !DATA.is_whole ? null : DATA.default;
}

// The class that the network is known to give, and how that is known.
function knownClass(input) {
  if (TABLE) return {answer: tableClass(input), how: "table"};
  if (DATA.is_right && !isImpossible(input)) {
    const rule = ruleOf(input);
    if (rule >= 0) return {answer: RULES[rule].then, how: "rule"};
    if (DATA.is_whole) return {answer: DATA.default, how: "otherwise"};
  }
  if (!NETWORK) return {answer: null, how: "open"};
  const answer = networkClass(input);
  return {answer: answer, how: answer === null ? "tie" : "network"};
}
