// The model of training.cpp in plain JavaScript, as a page would implement it by hand: typed arrays allocated once, and loops along rows.
// Vaswani et al. 2017 with pre-norm; Adam by Kingma and Ba 2015.

/** c[n, m] (+)= a[n, k]·b[k, m] */
function times(a, b, c, n, k, m, adds = false) {
  if (!adds) c.fill(0, 0, n * m);
  for (let i = 0; i < n; i++) {
    for (let l = 0; l < k; l++) {
      const left = a[i * k + l];
      for (let j = 0, to = i * m, from = l * m; j < m; j++) c[to + j] += left * b[from + j];
    }
  }
}
/** c[k, m] += aᵀ·b of a[n, k] and b[n, m] */
function timesLeft(a, b, c, n, k, m) {
  for (let i = 0; i < n; i++) {
    for (let l = 0; l < k; l++) {
      const left = a[i * k + l];
      for (let j = 0, to = l * m, from = i * m; j < m; j++) c[to + j] += left * b[from + j];
    }
  }
}
/** c[n, k] (+)= a[n, m]·bᵀ of b[k, m] */
function timesRight(a, b, c, n, m, k, adds = false) {
  for (let i = 0; i < n; i++) {
    for (let l = 0; l < k; l++) {
      let sum = adds ? c[i * k + l] : 0;
      for (let j = 0; j < m; j++) sum += a[i * m + j] * b[l * m + j];
      c[i * k + l] = sum;
    }
  }
}

export function plain({parameters, batches, batch, heads, d, layers, rate}) {
  const p = Object.fromEntries(Object.entries(parameters).map(([name, {data}]) => [name, Float32Array.from(data)]));
  const like = () => Object.fromEntries(Object.entries(p).map(([name, {length}]) => [name, new Float32Array(length)]));
  const g = like(), first = like(), second = like();
  const rows = batches[0].tokens.length, length = rows / batch, dim = d / heads, classes = p.unembedding_bias.length, scale = 1 / Math.sqrt(dim);
  const make = (columns = d) => new Float32Array(rows * columns);
  const places = new Float32Array(length * d);
  for (let i = 0; i < length; i++) {
    for (let c = 0; c < d; c++) places[i * d + c] = (c % 2 ? Math.cos : Math.sin)(i * 10000 ** (-2 * (c >> 1) / d));
  }
  const normed = () => ({h: make(), unit: make(), by: make(1)});
  const stack = Array.from({length: layers}, () => ({
    one: normed(), two: normed(), q: make(), k: make(), v: make(), weights: new Float32Array(batch * heads * length * length), concat: make(), hidden: make(4 * d),
  }));
  const last = normed(), x = make(), logits = make(classes), branch = make(), dX = make(), dH = make(), dConcat = make();
  const dQ = make(), dK = make(), dV = make(), dHidden = make(4 * d), dRow = new Float32Array(length);

  function norm({h, unit, by}, gamma, delta) {
    for (let r = 0; r < rows; r++) {
      const at = r * d;
      let mean = 0, square = 0;
      for (let c = 0; c < d; c++) mean += x[at + c];
      mean /= d;
      for (let c = 0; c < d; c++) square += (x[at + c] - mean) ** 2;
      const one = by[r] = 1 / Math.sqrt(square / d + 1e-5);
      for (let c = 0; c < d; c++) h[at + c] = (unit[at + c] = (x[at + c] - mean) * one) * gamma[c] + delta[c];
    }
  }
  function normBack({unit, by}, gamma, dGamma, dDelta) {
    for (let r = 0; r < rows; r++) {
      const at = r * d;
      let mean = 0, along = 0;
      for (let c = 0; c < d; c++) {
        const from = dH[at + c], of = from * gamma[c];
        dGamma[c] += from * unit[at + c], dDelta[c] += from, mean += of, along += of * unit[at + c];
      }
      mean /= d, along /= d;
      for (let c = 0; c < d; c++) dX[at + c] += by[r] * (dH[at + c] * gamma[c] - mean - unit[at + c] * along);
    }
  }
  function attend({q, k, v, weights, concat}) {
    concat.fill(0);
    for (let s = 0, w = 0; s < batch; s++) {
      for (let h = 0; h < heads; h++, w += length * length) {
        const base = s * length * d + h * dim;
        for (let i = 0; i < length; i++) {
          const qi = base + i * d, row = w + i * length;
          let most = -Infinity, sum = 0;
          for (let j = 0; j <= i; j++) {
            const kj = base + j * d;
            let score = 0;
            for (let c = 0; c < dim; c++) score += q[qi + c] * k[kj + c];
            weights[row + j] = score *= scale;
            if (score > most) most = score;
          }
          for (let j = 0; j <= i; j++) sum += weights[row + j] = Math.exp(weights[row + j] - most);
          for (let j = 0; j <= i; j++) {
            const weight = weights[row + j] /= sum, vj = base + j * d;
            for (let c = 0; c < dim; c++) concat[qi + c] += weight * v[vj + c];
          }
        }
      }
    }
  }
  function attendBack({q, k, v, weights}) {
    dQ.fill(0), dK.fill(0), dV.fill(0);
    for (let s = 0, w = 0; s < batch; s++) {
      for (let h = 0; h < heads; h++, w += length * length) {
        const base = s * length * d + h * dim;
        for (let i = 0; i < length; i++) {
          const qi = base + i * d, row = w + i * length;
          let mean = 0;
          for (let j = 0; j <= i; j++) {
            const vj = base + j * d, weight = weights[row + j];
            let sum = 0;
            for (let c = 0; c < dim; c++) sum += dConcat[qi + c] * v[vj + c], dV[vj + c] += weight * dConcat[qi + c];
            dRow[j] = sum, mean += weight * sum;
          }
          for (let j = 0; j <= i; j++) {
            const kj = base + j * d, score = scale * weights[row + j] * (dRow[j] - mean);
            for (let c = 0; c < dim; c++) dQ[qi + c] += score * k[kj + c], dK[kj + c] += score * q[qi + c];
          }
        }
      }
    }
  }
  function biased(to, bias) {
    for (let at = 0; at < to.length; at += bias.length) for (let c = 0; c < bias.length; c++) to[at + c] += bias[c];
  }
  function sumRows(from, to) {
    for (let at = 0; at < from.length; at += to.length) for (let c = 0; c < to.length; c++) to[c] += from[at + c];
  }
  function add(to, from) { for (let i = 0; i < to.length; i++) to[i] += from[i]; }

  let steps = 0;
  function step() {
    const {tokens, targets} = batches[steps % batches.length];
    for (const name in g) g[name].fill(0);
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < d; c++) x[r * d + c] = p.embedding[tokens[r] * d + c] + places[r % length * d + c];
    }
    stack.forEach((s, l) => {
      const of = (name) => p[`layers.${l}.${name}`];
      norm(s.one, of('gamma_1'), of('delta_1'));
      times(s.one.h, of('w_q'), s.q, rows, d, d), times(s.one.h, of('w_k'), s.k, rows, d, d), times(s.one.h, of('w_v'), s.v, rows, d, d);
      attend(s);
      times(s.concat, of('w_o'), x, rows, d, d, true);
      norm(s.two, of('gamma_2'), of('delta_2'));
      times(s.two.h, of('w_1'), s.hidden, rows, d, 4 * d);
      biased(s.hidden, of('b_1'));
      for (let i = 0; i < s.hidden.length; i++) if (s.hidden[i] < 0) s.hidden[i] = 0;
      times(s.hidden, of('w_2'), x, rows, 4 * d, d, true);
      biased(x, of('b_2'));
    });
    norm(last, p.gamma, p.delta);
    times(last.h, p.unembedding, logits, rows, d, classes);
    biased(logits, p.unembedding_bias);

    let loss = 0, asked = 0;
    for (let r = 0; r < rows; r++) asked += targets[r] >= 0;
    for (let r = 0; r < rows; r++) {
      const at = r * classes, target = targets[r];
      if (target < 0) { logits.fill(0, at, at + classes); continue; }
      let most = -Infinity, sum = 0;
      for (let c = 0; c < classes; c++) if (logits[at + c] > most) most = logits[at + c];
      loss += most - logits[at + target];
      for (let c = 0; c < classes; c++) sum += logits[at + c] = Math.exp(logits[at + c] - most);
      loss += Math.log(sum);
      for (let c = 0; c < classes; c++) logits[at + c] = (logits[at + c] / sum - (c === target ? 1 : 0)) / asked;
    }

    sumRows(logits, g.unembedding_bias);
    timesLeft(last.h, logits, g.unembedding, rows, d, classes);
    timesRight(logits, p.unembedding, dH, rows, classes, d);
    dX.fill(0);
    normBack(last, p.gamma, g.gamma, g.delta);
    for (let l = layers; l-- > 0;) {
      const s = stack[l], of = (name) => p[`layers.${l}.${name}`], to = (name) => g[`layers.${l}.${name}`];
      sumRows(dX, to('b_2'));
      timesLeft(s.hidden, dX, to('w_2'), rows, 4 * d, d);
      timesRight(dX, of('w_2'), dHidden, rows, d, 4 * d);
      for (let i = 0; i < dHidden.length; i++) if (s.hidden[i] <= 0) dHidden[i] = 0;
      sumRows(dHidden, to('b_1'));
      timesLeft(s.two.h, dHidden, to('w_1'), rows, d, 4 * d);
      timesRight(dHidden, of('w_1'), dH, rows, 4 * d, d);
      normBack(s.two, of('gamma_2'), to('gamma_2'), to('delta_2'));
      timesLeft(s.concat, dX, to('w_o'), rows, d, d);
      timesRight(dX, of('w_o'), dConcat, rows, d, d);
      attendBack(s);
      [['w_q', dQ], ['w_k', dK], ['w_v', dV]].forEach(([name, from], i) => {
        timesLeft(s.one.h, from, to(name), rows, d, d);
        timesRight(from, of(name), dH, rows, d, d, i > 0);
      });
      normBack(s.one, of('gamma_1'), to('gamma_1'), to('delta_1'));
    }
    for (let r = 0; r < rows; r++) for (let c = 0; c < d; c++) g.embedding[tokens[r] * d + c] += dX[r * d + c];

    steps++;
    const along = rate / (1 - 0.9 ** steps), root = 1 / Math.sqrt(1 - 0.999 ** steps);
    for (const name in p) {
      const to = p[name], from = g[name], m = first[name], v = second[name];
      for (let i = 0; i < to.length; i++) {
        m[i] = 0.9 * m[i] + 0.1 * from[i], v[i] = 0.999 * v[i] + 0.001 * from[i] * from[i];
        to[i] -= along * m[i] / (Math.sqrt(v[i]) * root + 1e-8);
      }
    }
    return loss / asked;
  }
  return {step};
}
