// The network itself, in 64 bits, with a bound on all its roundings: what lies within
// the bound is left undecided here.
const NETWORK = DATA.what_if.network;

function logistic(y) {
  const small = Math.exp(-Math.abs(y));
  return (y >= 0 ? 1 : small) / (1 + small);
}

const ACTIVATIONS = {
  elu: (y) => y > 0 ? y : Math.expm1(y),
  hard_sigmoid: (y) => Math.min(Math.max(y / 6 + 0.5, 0), 1),
  hard_tanh: (y) => Math.min(Math.max(y, -1), 1),
  identity: (y) => y,
  leaky_relu: (y, slope) => y > 0 ? y : slope * y,
  relu: (y) => Math.max(y, 0),
  sigmoid: logistic,
  silu: (y) => y * logistic(y),
  softplus: (y) => Math.max(y, 0) + Math.log1p(Math.exp(-Math.abs(y))),
  tanh: Math.tanh,
};

function scoresOf(input) {
  const first = NETWORK.layers[0];
  let values = first.bias.slice(), start = 0;
  input.forEach(({code, number}, place) => {
    const feature = FEATURES[place], row = first.weights[start + code];
    const factor = isRange(feature) && code === 0 ? number : 1;
    for (let unit = 0; unit < values.length; unit++) values[unit] += row[unit] * factor;
    start += feature.values.length + (isRange(feature) ? 1 : 0);
  });
  for (let place = 1; place < NETWORK.layers.length; place++) {
    const {activation, slope} = NETWORK.layers[place - 1];
    const outputs = values.map((value) => ACTIVATIONS[activation](value, slope));
    const layer = NETWORK.layers[place], sums = layer.bias.slice();
    outputs.forEach((output, unit) => {
      const row = layer.weights[unit];
      for (let next = 0; next < sums.length; next++) sums[next] += row[next] * output;
    });
    values = sums;
  }
  return values;
}

// The class that the network predicts; null within the bound on its roundings.
function networkClass(input) {
  const scores = scoresOf(input), bound = NETWORK.bound;
  if (scores.length === 1) {
    const distance = scores[0] - NETWORK.limit;
    if (!(Math.abs(distance) > bound[0])) return null;
    return distance > 0 ? 1 : 0;
  }
  let best = 0;
  scores.forEach((score, place) => { if (score > scores[best]) best = place; });
  const low = scores[best] - bound[best];
  const sure = low * (1 - Math.sign(low) * 2 ** -51);
  const isClear = scores.every(
    (score, place) => place === best || score + bound[place] < sure);
  return isClear ? best : null;
}
