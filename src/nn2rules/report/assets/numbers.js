// Numbers as the library prints them.
function amount(number) {
  return number.toLocaleString("en-US");
}

function counted(number, noun) {
  return `${amount(number)} ${noun}${number === 1 ? "" : "s"}`;
}

// A share in percent, never rounded to 0 or 100 when it is neither.
function share(part, digits) {
  const percent = 100 * part, least = digits ? 0.1 : 1;
  if (part === 0) return "0%";
  if (part === 1) return "100%";
  if (percent < least) return `< ${least}%`;
  if (percent > 100 - least) return digits ? "> 99.9%" : "> 99%";
  return `${percent.toFixed(digits)}%`;
}

// The largest number of 64 bits below another.
function before(number) {
  if (number === 0) return -Number.MIN_VALUE;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, number);
  const bits = view.getBigInt64(0);
  view.setBigInt64(0, number > 0 ? bits - 1n : bits + 1n);
  return view.getFloat64(0);
}
