// The model of training.cpp in TensorFlow.js: its gradients, its Adam, and only operations that all of its backends have.
export function tensorflow(tf, {parameters, batches, batch, heads, d, layers, rate}) {
  const vector = (name) => /gamma|delta|b_|bias/.test(name.split('.').at(-1));
  const p = Object.fromEntries(Object.entries(parameters).map(([name, {data, shape}]) => [name, tf.variable(tf.tensor(data, vector(name) ? [shape[1]] : shape))]));
  const rows = batches[0].tokens.length, length = rows / batch, dim = d / heads, classes = p.unembedding_bias.shape[0];
  const places = tf.tensor2d(Array.from({length}, (_, i) => Array.from({length: d}, (__, c) => (c % 2 ? Math.cos : Math.sin)(i * 10000 ** (-2 * (c >> 1) / d)))));
  const future = tf.tensor2d(Array.from({length}, (_, i) => Array.from({length}, (__, j) => j > i ? -1e9 : 0)));
  // Rows of zeros where there is no target; words as rows of a one-hot matrix, whose product has a gradient in every backend.
  const hot = (list, depth) => tf.tensor2d(Array.from(list, (at) => Array.from({length: depth}, (_, c) => c === at ? 1 : 0)));
  const data = batches.map(({tokens, targets}) => ({
    tokens: hot(tokens, p.embedding.shape[0]), targets: hot(targets, classes), asked: Array.from(targets).filter((t) => t >= 0).length,
  }));
  const norm = (x, name, which) => {
    const away = tf.sub(x, tf.mean(x, -1, true));
    return tf.add(tf.mul(tf.mul(away, tf.rsqrt(tf.add(tf.mean(tf.square(away), -1, true), 1e-5))), p[`${name}gamma${which}`]), p[`${name}delta${which}`]);
  };
  const attention = (h, name) => {
    const [q, k, v] = ['w_q', 'w_k', 'w_v'].map((w) => tf.transpose(tf.reshape(tf.matMul(h, p[name + w]), [batch, length, heads, dim]), [0, 2, 1, 3]));
    const weights = tf.softmax(tf.add(tf.mul(tf.matMul(q, k, false, true), 1 / Math.sqrt(dim)), future));
    return tf.matMul(tf.reshape(tf.transpose(tf.matMul(weights, v), [0, 2, 1, 3]), [rows, d]), p[`${name}w_o`]);
  };
  const lossOf = ({tokens, targets, asked}) => {
    let x = tf.reshape(tf.add(tf.reshape(tf.matMul(tokens, p.embedding), [batch, length, d]), places), [rows, d]);
    for (let l = 0; l < layers; l++) {
      const name = `layers.${l}.`;
      x = tf.add(x, attention(norm(x, name, '_1'), name));
      const hidden = tf.relu(tf.add(tf.matMul(norm(x, name, '_2'), p[`${name}w_1`]), p[`${name}b_1`]));
      x = tf.add(x, tf.add(tf.matMul(hidden, p[`${name}w_2`]), p[`${name}b_2`]));
    }
    const logits = tf.add(tf.matMul(norm(x, '', ''), p.unembedding), p.unembedding_bias);
    const chances = tf.sub(logits, tf.logSumExp(logits, -1, true));
    return tf.div(tf.neg(tf.sum(tf.mul(chances, targets))), asked);
  };
  const adam = tf.train.adam(rate, 0.9, 0.999, 1e-8), list = Object.values(p);
  let steps = 0;
  return {step(wantsLoss = false) {
    const loss = adam.minimize(() => lossOf(data[steps++ % data.length]), true, list), value = wantsLoss ? loss.dataSync()[0] : list[0].dataSync()[0];
    loss.dispose();
    return value;
  }};
}
