// The element in an application without a framework.
import {AttentionPlayground, type PlaygroundAttributes, type PlaygroundEventMap, type PresetName} from 'attention-playground';

const board = document.createElement('attention-playground');
Object.assign(board, {title: 'A board', hidden: false, tabIndex: 0, role: 'group'});
board.preset = 'uniform';
board.preset = null;
board.view = 'block';
board.show = ['q', 'k', 'weights'];
board.show = 'q,k,weights';
const read: PresetName | '' = board.preset;
board.addEventListener('attention-change', ({detail}) => detail.source === 'user' && read);
board.addEventListener('change', (event: PlaygroundEventMap['attention-change']) => event.detail.before);
board.addEventListener('attention-train', ({detail: {loss}}) => loss.toFixed(3));
AttentionPlayground.home = undefined;
void board.link({preset: undefined, view: 'train', show: undefined, theme: undefined});
void board.toBlob({format: 'csv', tensor: undefined});

export const attributes: PlaygroundAttributes = {preset: undefined, show: undefined, fit: undefined, theme: undefined, state: undefined};

// @ts-expect-error: there is no such preset
board.preset = 'i-saw-a-sow';
// @ts-expect-error: nor such a view
board.view = 'blocks';
// @ts-expect-error: nor such a part
board.show = 'qq';
// @ts-expect-error: nor this one
board.show = ['q', 'kk'];
// @ts-expect-error: nor such a value
board.addEventListener('attention-change', ({detail}) => detail.value);
