// An application with a board, as input for each bundler.
import {AttentionPlayground} from 'attention-playground';

AttentionPlayground.home = '/playground/';
const board = document.createElement('attention-playground');
Object.assign(board, {loading: 'eager', preset: 'uniform'});
board.style.height = '600px';
document.body.append(board);
