// An application with a board, as input for each bundler.
import 'attention-playground';

const board = document.createElement('attention-playground');
Object.assign(board, {loading: 'eager', preset: 'uniform', lang: 'de'});
board.style.height = '600px';
document.body.append(board);
