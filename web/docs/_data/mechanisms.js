// Every mechanism of the layer: what the registry says (`attn mechanisms`), what its module says of itself, and a layer that uses it.
import {attn, introduction, isThere, read} from '../sources.js';

const {scores, normalizers} = JSON.parse(attn(['mechanisms']));
/** Scaled products are a step of their own and share the module of the products. */
const moduleOf = (folder, name) => `src/attention/mechanisms/${folder}/${isThere(`src/attention/mechanisms/${folder}/${name}.cpp`) ? name : 'dot'}.cpp`;

const LABELS = ['I', 'saw', 'a', 'saw'];
const LAYER = {
  version: 1, labels: LABELS, causal: false,
  q: [[[0.9, -0.4, 0.3], [1.2, 0.6, -0.5], [-0.3, 1.1, 0.8], [0.2, -0.7, 1.6]]],
  k: [[[1.1, 0.2, -0.6], [-0.2, 1.3, 0.4], [0.3, -0.5, 1.4], [0.8, 0.9, -0.2]]],
  v: [[[0.7, 0.3, 0], [-0.4, 0.9, 0.2], [0.1, -0.2, 1], [0.5, 0.5, -0.8]]],
};

/** The lines of the program in which the option makes a difference: those after the numbers. */
const programOf = (state) => attn(['code', '-'], JSON.stringify(state)).split('\n\n').at(-1).trim();
const formulaOf = (state) => /S &=.*?(?= \\\\$)/m.exec(attn(['code', '-', '--as', 'latex'], JSON.stringify(state)))[0].replace('&', '');

function shown(folder, option, record) {
  const state = {...LAYER, [option]: record.name}, module = moduleOf(folder, record.name);
  return {...record, option, state, module, words: introduction(module), formula: formulaOf(state), program: programOf(state), attributes: JSON.stringify(state)};
}

// ---------------------------------------------------------------- positions, masks and patterns

/** The choices of an option of `attn run`, and what its help says of it. */
const help = attn(['run', '--help']);
const helpOf = (option) => new RegExp(`^  ${option} +(?:true: )?(.*)$`, 'm').exec(help)?.[1];
/** What src/attention/layer/spec.h says of a name there. */
function saidOf(name) {
  const text = read('src/attention/layer/spec.h'), line = new RegExp(`((?:^ *///? .*\\n)*)^ *(?:\\w+ )?${name}\\b[^\\n]*?(?:///< (.*))?$`, 'm').exec(text);
  return (line?.[2] ?? line?.[1] ?? '').replace(/^ *\/\/\/ ?/gm, '').replace(/\n/g, ' ').replace(/:? Spec::\w+/g, '').trim();
}

const wave = (row, column, phase) => Math.round(100 * Math.sin(1 + row * (column + 1) * 0.7 + phase)) / 100;
const rows = (phase, tokens = 10) => Array.from({length: tokens}, (_, row) => Array.from({length: 4}, (__, column) => wave(row, column, phase)));
const longer = (tokens) => ({version: 1, causal: false, labels: Array.from({length: tokens}, (_, i) => String(i + 1)), q: [rows(0, tokens)], k: [rows(2, tokens)], v: [rows(4, tokens)]});
const LONGER = longer(10);
const EYE = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]];
const PROJECTED = {version: 1, mode: 'x', causal: false, labels: LONGER.labels, x: rows(0), w_q: EYE, w_k: EYE, w_v: EYE, w_o: EYE};
/** How many queries and keys of so many tokens meet under these options. */
const pairs = (options, tokens) => JSON.parse(attn(['run', '-', '--outputs', 'weights'], JSON.stringify({...longer(tokens), ...options}))).weights.data.filter((weight) => weight > 0).length;
const masked = (name, title, options, spoken) => ({...variant(name, title, options, spoken), pairs: [10, 100].map((tokens) => ({tokens, met: pairs(options, tokens)}))});

const variant = (name, title, options, spoken, {base = LONGER, work} = {}) => {
  const state = {...base, ...options}, option = Object.keys(options)[0];
  return {name, title, work, options: JSON.stringify(options), state, attributes: JSON.stringify(state), words: spoken, help: helpOf(option), formula: formulaOf(state), program: programOf(state)};
};

export default {
  scores: scores.map((score) => shown('scores', 'score', score)),
  normalizers: normalizers.map((normalizer) => shown('normalizers', 'normalizer', normalizer)),
  positions: [
    variant('sinusoidal', 'Sinusoidal', {position: 'sinusoidal'}, saidOf('sinusoidal'), {base: PROJECTED, work: 'one addition for each number of X'}),
    variant('rotary', 'Rotary', {position: 'rotary'}, saidOf('rotary'), {work: 'four multiplications and two additions for each pair of columns, in each query and key'}),
    variant('alibi', 'ALiBi', {position: 'alibi'}, saidOf('alibi'), {work: 'one multiplication and one addition for each score'}),
  ],
  masks: [
    masked('causal', 'Causal', {causal: true}, helpOf('causal')),
    masked('window', 'Window', {window_left: 2, window_right: 1}, helpOf('window_left')),
    masked('prefix', 'Prefix', {prefix: 4, causal: true}, helpOf('prefix')),
    masked('padding', 'Padding', {key_length: 7}, helpOf('key_length')),
    masked('local', 'Local', {pattern_local: 3}, saidOf('local')),
    masked('dilated', 'Dilated', {pattern_dilation: 2, pattern_local: 3}, helpOf('pattern_dilation')),
    masked('strided', 'Strided', {pattern_stride: 3}, saidOf('stride')),
    masked('block', 'Block', {pattern_block: 3}, saidOf('block')),
    masked('global', 'Global tokens', {pattern_global: 2}, saidOf('global')),
    masked('random', 'Random', {pattern_random: 3}, saidOf('random')),
    masked('longformer', 'Longformer', {pattern_local: 2, pattern_global: 1}, 'Local attention and global tokens together (Beltagy et al. 2020).'),
    masked('bigbird', 'BigBird', {pattern_local: 2, pattern_global: 1, pattern_random: 2}, 'Local attention, global tokens and random keys together (Zaheer et al. 2020).'),
  ],
  layer: LAYER,
  first: {...LAYER, causal: true},  // as the board of the first screen begins
  eye: formulaOf(LAYER),
};
