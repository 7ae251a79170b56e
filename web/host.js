// For a page that has a board in an iframe, made of embed.html: with `fit` in its address the frame is as high as its board, and the element's methods
// are those of an object, as promises.
//
//   const board = connect(document.querySelector('iframe'));
//   await board.set('causal', true);
//   board.addEventListener('change', ({detail}) => …);

const ERRORS = {RangeError, SyntaxError, TypeError};

class Board extends EventTarget {
  line = null;   // to the page in the frame: {port, calls, watches, early}
  waiting = [];  // calls before there is one
  ids = 0;

  constructor(frame) {
    super();
    this.frame = frame;
    // Whether a page of another origin has been loaded nobody can tell, so it is asked at once, and again whenever one has been.
    frame.addEventListener('load', () => this.open());
    this.open();
  }

  /** Asks the page for a line, which is used from its first message on. One of before still brings the answers that it owes, unless
   * the frame has left that page. */
  open() {
    const {port1: port, port2} = new MessageChannel(), line = {port, calls: new Map(), watches: new Map(), early: []};
    port.onmessage = ({data}) => {
      if (this.newest === line && this.line !== line) {
        this.line = line;
        this.waiting.splice(0).forEach((send) => send());
      }
      this.take(line, data);
    };
    this.newest = line;
    this.frame.contentWindow.postMessage({attention: 1, connect: true}, '*', [port2]);
  }

  take(line, {id, result, error, event, detail}) {
    if (event === undefined) {
      const {resolve, reject} = line.calls.get(id);
      line.calls.delete(id);
      if (error) reject(Object.assign(new (ERRORS[error.name] ?? Error)(error.message), {field: error.field}));
      else resolve(result);
    } else if (detail?.watch !== undefined) {
      const tell = line.watches.get(detail.watch);
      tell ? tell(detail) : line.early.push(detail);
    } else if (line === this.line) {
      if (event === 'fit') Object.assign(this.frame.style, {boxSizing: 'content-box', height: `${detail.height}px`});
      this.dispatchEvent(new CustomEvent(event, {detail}));
    }
  }

  call(name, ...args) {
    return new Promise((resolve, reject) => {
      const send = () => {
        const id = ++this.ids, {port, calls} = this.line;
        try {
          port.postMessage({id, call: name, args});
          calls.set(id, {resolve, reject});
        } catch (error) {
          reject(error);  // what cannot be sent, such as a function
        }
      };
      this.line ? send() : this.waiting.push(send);
    });
  }

  async watch(name, target, tell) {
    const watch = await this.call(name, target), {watches, early} = this.line;
    watches.set(watch, tell);
    early.filter((detail) => detail.watch === watch).forEach(tell);
    return () => {
      watches.delete(watch);
      return this.call('stop', watch);
    };
  }

  observe(target, callback) { return this.watch('observe', target, (detail) => callback(detail.value, detail)); }
  on(check, callback) { return this.watch('on', check, ({verdicts}) => callback(verdicts)); }
}

/** The board of a frame: its methods are those of the element, as promises. */
export function connect(frame) {
  const own = (board, name) => typeof board[name] === 'function' ? board[name].bind(board) : board[name];
  return new Proxy(new Board(frame), {get: (board, name) => name in board || typeof name === 'symbol' ? own(board, name) :
    name === 'then' ? undefined : (...args) => board.call(name, ...args)});
}
