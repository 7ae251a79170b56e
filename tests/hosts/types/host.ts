// The host of a frame.
import {connect} from 'attention-playground/host';

const board = connect(document.querySelector('iframe')!);
board.addEventListener('change', ({detail}) => detail.source === 'user');
board.addEventListener('fit', ({detail}) => detail.height.toFixed(0));
const stop: Promise<() => Promise<unknown>> = board.observe({tensor: 'weights', row: 3, col: 2}, (value) => value?.toFixed(2));
void board.on([{tensor: 'weights', at: [0, 3, 2], max: 0.5}], ([verdict]) => verdict?.holds);

export async function tell() {
  await board.set('causal', true);
  const {data, shape} = await board.getTensor('weights'), [place] = await board.items();
  (await stop)();
  const progress = await board.train(10), picture: Blob = await board.toBlob({format: 'png'});
  return [data[0], shape[2], place?.rect.width, progress.loss, picture.size, (await board.locate('q', 0, 0, 0)).top];
}

// @ts-expect-error: there is no such option
void board.set('casual', true);
// @ts-expect-error: it is a promise
board.getTensor('weights').shape;
// @ts-expect-error: there is no such method
void board.dance();
