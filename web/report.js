// A report for those who can put a fault right, which the reader copies: after one, or by Help. Nothing is sent.
import {script} from './files.js';

const MOST = 20;  // messages
const said = new WeakMap();

/** From now on the last messages of a board are kept for a report. */
export function keepMessages(board) {
  const list = [];
  said.set(board, list);
  board.root.host.addEventListener('error', ({detail: {message}}) => {
    list.push(message);
    if (list.length > MOST) list.shift();
  }, {signal: board.ends.signal});
}

/** A board that has stopped may still say what was on it. */
function stateOf(board) {
  try {
    board.wasm._playground_state();
    return board.reply();
  } catch {
    return 'could not be read';
  }
}

async function version() {
  const text = await script('dialog.js', () => import('./dialog.js')).then(({readNotices}) => readNotices()).catch(() => '');
  return /^[^\n]*? (Attention Playground [\d.]+)/.exec(text)?.[1] ?? 'Attention Playground';
}

const linesOf = (board, error) => [`Browser: ${navigator.userAgent}`, `Kernel: ${board.kernel}`, ...(error ? [`Fault: ${error.message}`] : []),
  ...(said.get(board) ?? []).map((message) => `Message: ${message}`), `State: ${stateOf(board)}`];

/** Copies the report of a board that works. */
export async function copyReport(board) {
  const lines = linesOf(board), text = [await version(), ...lines].join('\n');
  if (board.alive && await board.copy(text)) board.say('The report is on the clipboard; nothing was sent.');
}

/** Puts a button that copies the report beside the one that tries again. Called while the board is still there. */
export function offerReport(board, error) {
  const {host} = board.root, [retry] = board.root.querySelectorAll('.message button'), copy = document.createElement('button'), text = document.createElement('textarea');
  const lines = linesOf(board, error);
  copy.textContent = 'Copy report';
  copy.title = 'Version, browser, kernel, the last messages and the state of the board; nothing is sent';
  Object.assign(text, {readOnly: true, rows: 8, ariaLabel: 'Report'});
  Object.assign(text.style, {boxSizing: 'border-box', width: `${Math.min(480, host.clientWidth - 48)}px`});
  copy.addEventListener('click', async () => {
    text.value = [await version(), ...lines].join('\n');
    const isCopied = await navigator.clipboard?.writeText(text.value).then(() => true, () => false);
    copy.textContent = isCopied ? 'Copied' : 'Copy report';
    if (isCopied) return;
    copy.after(text);  // the browser does not let it be copied: here it is, to be taken by hand
    text.select();
  });
  retry.after(copy);
  for (const [target, type] of [[retry, 'click'], [host, 'ready']]) target.addEventListener(type, () => [copy, text].forEach((node) => node.remove()), {once: true});
}
