// Figures for papers, each with the command that draws it.
import mechanisms from './mechanisms.js';

const state = mechanisms.layer;
export default [
  {name: 'weights', title: 'The weights of one head', args: ['--what', 'weights']},
  {name: 'sums', title: 'With the sums of the columns', args: ['--what', 'weights', '--with', 'clear,labels,numbers,sums,bar']},
  {name: 'heads', title: 'All heads', args: ['--what', 'heads']},
  {name: 'arcs', title: 'Arcs from each query to its keys', args: ['--what', 'arcs']},
  {name: 'cividis', title: 'For readers who see colours differently', args: ['--what', 'weights', '--colors', 'cividis']},
  {name: 'column', title: 'As wide as the column of a paper', args: ['--what', 'weights', '--width', '3.25in']},
].map((figure) => ({...figure, state, command: `attn render board.json ${figure.args.join(' ')} -o ${figure.name}.svg`}));
