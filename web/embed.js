// The page for an iframe. Its host can communicate with it over a MessagePort: it posts {attention: 1, connect: true} with a port; then
// {id, call: 'set', args: ['causal', true]} is answered by {id, result} or {id, error: {name, message, field}}, and {event, detail} are
// sent for events, once each, by their first names. Only messages of the parent are accepted. A classic script, because modules do not load
// into a sandbox without an origin from hosts that send no CORS header, where the standalone build is used.
(() => {
  const VERBS = new Set(['getState', 'setState', 'reset', 'undo', 'redo', 'getTensor', 'setTensor', 'get', 'set', 'locate', 'items', 'explain', 'gradient',
    'observe', 'on', 'stats', 'link', 'embedCode', 'describe', 'openLesson', 'train', 'resetTraining', 'toBlob', 'toCode']);
  const EVENTS = ['ready', 'input', 'change', 'select', 'error', 'train', 'step', 'answer', 'passed', 'fit'];
  const MOST_WAITING = 1000, MOST_ARGUMENTS = 8;
  let fitted = null;  // what the last event `fit` said, for a host that connects after it
  const board = customElements.whenDefined('attention-playground').then(() => {
    const element = document.querySelector('attention-playground');
    element.addEventListener('fit', ({detail}) => { fitted = detail; });
    return element;
  });

  const plain = (value) => {
    if (value instanceof DOMRect) return value.toJSON();
    if (Array.isArray(value) && value[0]?.rect) return value.map((item) => ({...item, rect: item.rect.toJSON()}));
    return value instanceof HTMLElement ? undefined : value;
  };
  const refuse = (Kind, message) => { throw new Kind(message); };

  class Line {
    stops = new Map();
    waiting = 0;
    watches = 0;  // made so far: an id is never used again

    constructor(port, element) {
      Object.assign(this, {port, element});
      for (const type of EVENTS) element.addEventListener(type, ({detail}) => this.tell(type, detail));
      if (fitted) this.tell('fit', fitted);
      new ResizeObserver(([{contentRect: {width, height}}]) => this.tell('resize', {width, height})).observe(element);
      port.onmessage = ({data}) => this.take(data);
    }

    tell(event, detail) { this.port.postMessage({event, detail: plain(detail)}); }

    async take(data) {
      if (typeof data !== 'object' || data === null || !('call' in data)) return;
      const {id, call, args = []} = data;
      this.waiting++;
      try {
        if (this.waiting > MOST_WAITING) refuse(RangeError, `More than ${MOST_WAITING} calls wait for their answers; this one was not made.`);
        if (!Array.isArray(args) || args.length > MOST_ARGUMENTS) refuse(TypeError, 'args must be a list of at most 8 values.');
        this.port.postMessage({id, result: plain(await this.make(call, args))});
      } catch ({name = 'Error', message, field}) {
        this.port.postMessage({id, error: {name, message: String(message), field}});
      } finally {
        this.waiting--;
      }
    }

    async make(call, args) {
      const {element, stops} = this;
      await element.ready;
      if (call === 'ready') return null;
      if (call === 'stop') return stops.get(args[0])?.(), stops.delete(args[0]);
      if (!VERBS.has(call) || typeof element[call] !== 'function') refuse(TypeError, `There is no call ${JSON.stringify(String(call).slice(0, 99))}.`);
      if (call !== 'observe' && call !== 'on') return element[call](...args);
      // A callback cannot be posted: its calls are sent as events, until {call: 'stop', args: [watch]}.
      const watch = ++this.watches;
      stops.set(watch, element[call](args[0], (...told) => this.tell(call, call === 'on' ? {watch, verdicts: told[0]} : {watch, ...told[1]})));
      return watch;
    }
  }

  addEventListener('message', async ({source, data, ports: [port]}) => {
    if (parent === window || source !== parent || data?.attention !== 1 || data.connect !== true || !port) return;
    const element = await board;
    new Line(port, element);
  });

  /** Allows what the page needs, and nothing else: in an ordinary frame 'self'. In a sandbox without an origin Safari lets that match nothing, so
   * there it is our folder. Not in the HTML, which cannot know its address. */
  function restrict(ours) {
    const meta = document.createElement('meta');
    meta.httpEquiv = 'Content-Security-Policy';
    meta.content = `default-src 'none'; script-src ${ours} 'wasm-unsafe-eval'; style-src ${ours}; img-src data:; connect-src ${ours}; base-uri 'none'; form-action 'none'`;
    document.head.append(meta);
  }

  /** Without scripts of ours a sentence of embed.html appears by itself after a while; this one is at once, and says which file it is. */
  const fail = (name) => document.querySelector('attention-playground')?.replaceChildren(
    `The board could not be loaded: ${name} did not arrive, or is damaged. Please reload the page; if that does not help, tell its author.`);

  const {src} = document.currentScript, {href, protocol} = new URL('.', src), isAlone = self.origin === 'null';
  restrict(!isAlone ? "'self'" : protocol === 'file:' ? protocol : href.replaceAll(';', '%3B').replaceAll(',', '%2C'));
  if (isAlone) {
    const script = document.createElement('script');
    script.src = new URL('standalone.js', src).href;
    script.onerror = () => fail('standalone.js');
    document.head.append(script);
  } else {
    import(new URL('element.js', src).href).catch(() => fail('element.js'));
  }
})();
